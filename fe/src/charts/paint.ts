/** Shapes on a canvas. */
import { crisp } from "../draw";
import { HATCH_SIZE, HATCHES } from "./hatch";
import { FLAG, FONT_SIZE, type SceneTheme, type Shape } from "./scene";

export type Theme = Pick<SceneTheme, "font" | "surface">;
type Image = Extract<Shape, { kind: "image" }>;
type Area = Extract<Shape, { kind: "rect" | "path" }>;

export const DASHES = [5, 3];
const NO_DASHES: number[] = [];

export function paint(
  context: CanvasRenderingContext2D,
  shapes: readonly Shape[],
  theme: Theme,
): void {
  const hatches = HATCHES.map(() => null as CanvasPattern | null);
  const hatchOf = (index: number) => {
    const which = index % HATCHES.length;
    hatches[which] ??= hatchPattern(context, HATCHES[which] ?? "", theme.surface);
    return hatches[which];
  };
  context.lineWidth = 1;
  for (const shape of shapes) paintShape(context, shape, theme, hatchOf);
}

type HatchOf = (index: number) => CanvasPattern | null;

function paintShape(
  context: CanvasRenderingContext2D,
  shape: Shape,
  theme: Theme,
  hatchOf: HatchOf,
): void {
  switch (shape.kind) {
    case "rect":
    case "path":
      paintArea(context, shape, hatchOf);
      break;
    case "line":
      context.strokeStyle = shape.stroke;
      context.setLineDash(shape.dashed ? DASHES : NO_DASHES);
      context.beginPath();
      context.moveTo(shape.x1, shape.y1);
      context.lineTo(shape.x2, shape.y2);
      context.stroke();
      break;
    case "text":
      context.font = `${shape.bold ? "bold " : ""}${FONT_SIZE}px ${theme.font}`;
      context.fillStyle = shape.fill;
      context.textAlign = shape.align;
      context.save();
      context.translate(shape.x, shape.y);
      context.rotate((-(shape.turned ?? 0) * Math.PI) / 180);
      context.fillText(shape.text, 0, 0);
      context.restore();
      break;
    case "image": {
      const image = imageOf(shape);
      context.imageSmoothingEnabled = false;
      if (image) context.drawImage(image, shape.x, shape.y, shape.width, shape.height);
      break;
    }
    case "flag":
      context.fillStyle = shape.fill;
      context.fill(new Path2D(flagPath(shape)));
      break;
  }
}

function paintArea(context: CanvasRenderingContext2D, shape: Area, hatchOf: HatchOf): void {
  const path = shape.kind === "path" ? new Path2D(shape.d) : null;
  const fill = (style: string | CanvasPattern) => {
    context.fillStyle = style;
    if (path) context.fill(path);
    else if (shape.kind === "rect") context.fillRect(shape.x, shape.y, shape.width, shape.height);
  };
  if (shape.kind === "path") context.globalAlpha = shape.opacity ?? 1;
  if (shape.fill !== undefined) fill(shape.fill);
  const hatch = shape.hatch === undefined ? null : hatchOf(shape.hatch);
  if (hatch) fill(hatch);
  context.globalAlpha = 1;
  if (shape.stroke === undefined) return;
  context.strokeStyle = shape.stroke;
  context.setLineDash(shape.dashed ? DASHES : NO_DASHES);
  context.lineWidth = shape.kind === "path" ? (shape.width ?? 1) : 1;
  if (path) context.stroke(path);
  else if (shape.kind === "rect") context.strokeRect(shape.x, shape.y, shape.width, shape.height);
  context.lineWidth = 1;
}

/** A pixel for each cell; null where there is none. */
export function imageOf({ columns, rows, pixels }: Image): HTMLCanvasElement | null {
  if (pixels.length === 0) return null;
  const canvas = document.createElement("canvas");
  canvas.width = columns;
  canvas.height = rows;
  const image = new ImageData(new Uint8ClampedArray(pixels.buffer), columns, rows);
  canvas.getContext("2d")?.putImageData(image, 0, 0);
  return canvas;
}

/** Paints a canvas of this size anew. */
export function paintCanvas(
  canvas: HTMLCanvasElement | null,
  width: number,
  height: number,
  shapes: readonly Shape[],
  theme: Theme,
): void {
  const context = canvas && crisp(canvas, width, height);
  if (context) paint(context, shapes, theme);
}

function hatchPattern(
  context: CanvasRenderingContext2D,
  d: string,
  color: string,
): CanvasPattern | null {
  const tile = document.createElement("canvas");
  const pen = crisp(tile, HATCH_SIZE, HATCH_SIZE, 1);
  if (!pen) return null;
  pen.strokeStyle = color;
  pen.stroke(new Path2D(d));
  return context.createPattern(tile, "repeat");
}

export function flagPath({ x, y }: { x: number; y: number }): string {
  return `M${x} ${y}l${-FLAG / 2} ${-FLAG}h${FLAG}z`;
}
