import { pixels, type Shape } from "../scene";
import type { Palette } from "./colors";
import { fitted } from "./label";
import type { Box } from "./layout";

export const ROW = 20;
export const GAP = 1;
const PADDING = 4;
/** Narrower boxes have no text. */
const TEXT_FROM = 26;
const FONT_SIZE = 11;

/** How the entries look. */
export interface BoxLook {
  readonly label: (entry: number) => string;
  /** By entry: which of the colours. */
  readonly fill: Uint8Array;
  /** The last is that of boxes that are drawn as one. */
  readonly colors: readonly string[];
}

/** All boxes and their labels, for a file. */
export function boxShapes(
  boxes: readonly Box[],
  look: BoxLook,
  palette: Palette,
  measure: (text: string) => number,
): Shape[] {
  const rects = boxes.map((box): Shape => {
    const fill = look.colors[colorOf(box, look)] ?? palette.muted;
    const [y, width] = [box.level * ROW, pixels(Math.max(box.width - GAP, 0.5))];
    return { kind: "rect", x: pixels(box.x), y, width, height: ROW - GAP, fill };
  });
  const text = { kind: "text", align: "left", fill: palette.text } as const;
  const labels = labelsOf(boxes, look, measure).map((label) => ({ ...text, ...label }));
  return [...rects, ...labels];
}

/** `top`: pixels that are scrolled out of sight. */
export function paintLabels(
  context: CanvasRenderingContext2D,
  boxes: readonly Box[],
  look: BoxLook,
  palette: Palette,
  top: number,
): void {
  context.font = `${FONT_SIZE}px ${palette.font}`;
  context.fillStyle = palette.text;
  const measure = (text: string) => context.measureText(text).width;
  for (const { text, x, y } of labelsOf(boxes, look, measure)) context.fillText(text, x, y - top);
}

function labelsOf(boxes: readonly Box[], look: BoxLook, measure: (text: string) => number) {
  return boxes.flatMap(({ entry, level, x, width }) => {
    if (entry < 0 || width < TEXT_FROM) return [];
    const text = fitted(look.label(entry), width - 2 * PADDING - GAP, measure);
    return text ? [{ text, x: pixels(x + PADDING), y: level * ROW + 14 }] : [];
  });
}

/** A place in `look.colors`. */
export function colorOf({ entry }: Box, { fill, colors }: BoxLook): number {
  return entry < 0 ? colors.length - 1 : (fill[entry] ?? 0);
}

/** An outline inside of a box. */
export function outline(
  context: CanvasRenderingContext2D,
  box: Box,
  top: number,
  color: string,
  lineWidth: number,
): void {
  context.strokeStyle = color;
  context.lineWidth = lineWidth;
  const inset = lineWidth / 2;
  context.strokeRect(
    box.x + inset,
    box.level * ROW - top + inset,
    Math.max(box.width - GAP - lineWidth, 1),
    ROW - GAP - lineWidth,
  );
}
