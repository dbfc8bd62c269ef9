/** Shapes on a canvas, and as the text of an SVG file. */
import { type ChartTheme, captionLines, crisp } from "../draw";
import { copyImage, saveFile } from "../host";
import { HATCH_SIZE, HATCHES } from "./hatch";
import { FLAG, FONT_SIZE, type SceneTheme, type Shape } from "./scene";

type Theme = Pick<SceneTheme, "font" | "surface">;
type Image = Extract<Shape, { kind: "image" }>;
type Area = Extract<Shape, { kind: "rect" | "path" }>;

const DASHES = [5, 3];
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
function imageOf({ columns, rows, pixels }: Image): HTMLCanvasElement | null {
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

function flagPath({ x, y }: { x: number; y: number }): string {
  return `M${x} ${y}l${-FLAG / 2} ${-FLAG}h${FLAG}z`;
}

const ANCHOR = { left: "start", center: "middle", right: "end" } as const;

/** Built as elements, so that texts from a trace stay texts. */
export function svgText(
  shapes: readonly Shape[],
  width: number,
  height: number,
  theme: Theme,
  /** Pixels above 0 that belong to the picture. */
  above = 0,
): string {
  const [top, whole] = [-above, height + above];
  const root = element("svg", { width, height: whole, viewBox: `0 ${top} ${width} ${whole}` });
  const used = new Set(
    shapes.flatMap((shape) =>
      "hatch" in shape && shape.hatch !== undefined ? [shape.hatch % HATCHES.length] : [],
    ),
  );
  const definitions = element("defs", {});
  for (const index of used) {
    const units = { patternUnits: "userSpaceOnUse", width: HATCH_SIZE, height: HATCH_SIZE };
    const pattern = element("pattern", { id: `hatch${index}`, ...units });
    pattern.append(
      element("path", { d: HATCHES[index] ?? "", stroke: theme.surface, fill: "none" }),
    );
    definitions.append(pattern);
  }
  if (used.size > 0) root.append(definitions);
  root.append(element("rect", { y: top, width, height: whole, fill: theme.surface }));
  const group = element("g", { "font-family": theme.font, "font-size": FONT_SIZE });
  root.append(group);
  for (const shape of shapes) group.append(...svgElements(shape));
  return new XMLSerializer().serializeToString(root);
}

function svgElements(shape: Shape): SVGElement[] {
  switch (shape.kind) {
    case "rect":
    case "path": {
      const { fill = "none", stroke = "none", hatch } = shape;
      const place =
        shape.kind === "path"
          ? { d: shape.d, "stroke-width": shape.width ?? 1, "fill-opacity": shape.opacity ?? 1 }
          : { x: shape.x, y: shape.y, width: shape.width, height: shape.height };
      const drawn = element(shape.kind, { ...place, ...dashes(shape), fill, stroke });
      if (hatch === undefined) return [drawn];
      return [
        drawn,
        element(shape.kind, { ...place, fill: `url(#hatch${hatch % HATCHES.length})` }),
      ];
    }
    case "line": {
      const { x1, y1, x2, y2, stroke } = shape;
      return [element("line", { x1, y1, x2, y2, stroke, ...dashes(shape) })];
    }
    case "text": {
      const { x, y, fill, align, bold, turned } = shape;
      const text = element("text", {
        x,
        y,
        fill,
        "text-anchor": ANCHOR[align],
        ...(bold ? { "font-weight": "bold" } : {}),
        ...(turned ? { transform: `rotate(${-turned} ${x} ${y})` } : {}),
      });
      text.textContent = shape.text;
      return [text];
    }
    case "image": {
      const { x, y, width, height } = shape;
      const href = imageOf(shape)?.toDataURL();
      const whole = { preserveAspectRatio: "none", style: "image-rendering: pixelated" };
      return [element("image", { x, y, width, height, href, ...whole })];
    }
    case "flag":
      return [element("path", { d: flagPath(shape), fill: shape.fill })];
  }
}

function dashes({ dashed }: { readonly dashed?: boolean | undefined }) {
  return dashed ? { "stroke-dasharray": DASHES.join(" ") } : {};
}

function element(
  name: string,
  attributes: Readonly<Record<string, string | number | undefined>>,
): SVGElement {
  const node = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, text] of Object.entries(attributes)) {
    if (text !== undefined) node.setAttribute(key, String(text));
  }
  return node;
}

/** A file, or the clipboard. */
export type FileKind = "png" | "svg" | "copy";

const LINE = 18;
const EDGE = 8;

/** The title and where the picture is from, in lines above 0 that are no wider than the picture. */
function captionShapes(title: string, width: number, theme: ChartTheme): Shape[] {
  const pen = document.createElement("canvas").getContext("2d");
  if (pen) pen.font = `${FONT_SIZE}px ${theme.font}`;
  const fits = (text: string) => (pen?.measureText(text).width ?? 0) <= width - 2 * EDGE;
  const lines = captionLines().flatMap((line) => {
    const wrapped: string[] = [];
    for (const word of line.split(" ")) {
      const longer = `${wrapped.at(-1) ?? ""} ${word}`.trim();
      if (wrapped.length > 0 && fits(longer)) wrapped[wrapped.length - 1] = longer;
      else wrapped.push(word);
    }
    return wrapped;
  });
  const all = [title, ...lines];
  return all.map((text, at) => ({
    kind: "text",
    x: EDGE,
    y: (at - all.length) * LINE + FONT_SIZE - EDGE,
    text,
    align: "left",
    bold: at === 0,
    fill: at === 0 ? theme.text : theme.muted,
  }));
}

/** The picture below its title and origin, as a file that is named by its title; whether it was copied or saved. */
export async function savePicture(
  kind: FileKind,
  title: string,
  shapes: readonly Shape[],
  width: number,
  height: number,
  theme: ChartTheme,
): Promise<boolean> {
  const caption = captionShapes(title, width, theme);
  const above = caption.length * LINE + EDGE;
  const all = [...caption, ...shapes];
  if (kind === "svg") {
    const svg = svgText(all, width, height, theme, above);
    saveFile(`${title}.svg`, new Blob([svg], { type: "image/svg+xml" }));
    return true;
  }
  const picture = document.createElement("canvas");
  const context = crisp(picture, width, height + above, 2);
  if (!context) return false;
  context.fillStyle = theme.surface;
  context.fillRect(0, 0, width, height + above);
  context.translate(0, above);
  paint(context, all, theme);
  const png = new Promise<Blob>((resolve, reject) =>
    picture.toBlob((made) => (made ? resolve(made) : reject(new Error("no picture"))), "image/png"),
  );
  if (kind === "copy") return copyImage(png);
  saveFile(`${title}.png`, await png);
  return true;
}
