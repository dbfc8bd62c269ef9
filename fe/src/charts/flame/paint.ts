import type { Palette } from "./colors";
import { fitted } from "./label";
import type { Box } from "./layout";

export const ROW = 20;
export const GAP = 1;
const PADDING = 4;
/** Narrower boxes have no text. */
const TEXT_FROM = 26;
export const FONT_SIZE = 11;

/** How the entries look. */
export interface BoxLook {
  readonly label: (entry: number) => string;
  /** By entry: which of the colours. */
  readonly fill: Uint8Array;
  /** The last is that of boxes that are drawn as one. */
  readonly colors: readonly string[];
}

/** Something boxes can be drawn on: the canvas, or an SVG file. */
export interface Surface {
  rect(x: number, y: number, width: number, height: number, fill: string): void;
  text(text: string, x: number, y: number, fill: string): void;
  measure(text: string): number;
}

/** All boxes and their labels. */
export function paint(
  surface: Surface,
  boxes: readonly Box[],
  look: BoxLook,
  palette: Palette,
): void {
  for (const box of boxes) {
    const { level, x, width } = box;
    const fill = look.colors[colorOf(box, look)] ?? palette.muted;
    surface.rect(x, level * ROW, Math.max(width - GAP, 0.5), ROW - GAP, fill);
  }
  paintLabels(surface, boxes, look, palette, 0);
}

/** `top`: pixels that are scrolled out of sight. */
export function paintLabels(
  surface: Surface,
  boxes: readonly Box[],
  look: BoxLook,
  palette: Palette,
  top: number,
): void {
  for (const { entry, level, x, width } of boxes) {
    if (entry < 0 || width < TEXT_FROM) continue;
    const text = fitted(look.label(entry), width - 2 * PADDING - GAP, surface.measure);
    if (text) surface.text(text, x + PADDING, level * ROW - top + 14, palette.text);
  }
}

/** A place in `look.colors`. */
export function colorOf({ entry }: Box, { fill, colors }: BoxLook): number {
  return entry < 0 ? colors.length - 1 : (fill[entry] ?? 0);
}

export function canvasSurface(context: CanvasRenderingContext2D, palette: Palette): Surface {
  context.font = `${FONT_SIZE}px ${palette.font}`;
  let last = "";
  const use = (fill: string) => {
    if (fill === last) return;
    context.fillStyle = fill;
    last = fill;
  };
  return {
    rect(x, y, width, height, fill) {
      use(fill);
      context.fillRect(x, y, width, height);
    },
    text(text, x, y, fill) {
      use(fill);
      context.fillText(text, x, y);
    },
    measure: (text) => context.measureText(text).width,
  };
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
