/** Bars side by side in rows, and the pieces that they are cut into. Pure. */
import { keyTarget } from "../keys";
import { type Box, boxPath, type Marks, type Picture, type SceneTheme, type Shape } from "../scene";
import type { SegmentsData } from "../types";

const ROW = 10;
const GAP = 3;
const PITCH = ROW + GAP;
/** From one bar to the next. */
const BESIDE = 2;
const NARROWEST = 2;
/** Wider pieces leave a line to the next one. */
const SEPARATED = 3;

/** As wide as they are large; the largest fills a row. */
export function segmentBoxes(sizes: readonly number[], width: number): Box[] {
  const most = sizes.reduce((largest, size) => Math.max(largest, size), 1);
  let [x, y] = [0, 0];
  return sizes.map((size) => {
    const wide = Math.max(NARROWEST, (size / most) * width);
    if (x > 0 && x + wide > width) [x, y] = [0, y + PITCH];
    const box = { x, y, width: wide, height: ROW };
    x += wide + BESIDE;
    return box;
  });
}

export function segmentsHeight(sizes: readonly number[], width: number): number {
  return (segmentBoxes(sizes, width).at(-1)?.y ?? -PITCH) + PITCH;
}

export function segmentsPicture(
  { segments, pieces, look }: SegmentsData,
  theme: SceneTheme,
  width: number,
): Picture<Marks> {
  const count = pieces.segment.length;
  const bars = segmentBoxes(segments.bytes, width);
  const boxOf = (piece: number): Box => {
    const segment = pieces.segment[piece] ?? 0;
    const bar = bars[segment] ?? { x: 0, y: 0, width: 0, height: ROW };
    const scale = bar.width / (segments.bytes[segment] || 1);
    const x = bar.x + (pieces.offset[piece] ?? 0) * scale;
    return { ...bar, x, width: (pieces.bytes[piece] ?? 0) * scale };
  };
  // Pieces go from left to right and row after row.
  const lastUpTo = (x: number, y: number): number => {
    let [low, high] = [0, count];
    while (low < high) {
      const middle = (low + high) >> 1;
      const box = boxOf(middle);
      if (box.y < y || (box.y === y && box.x <= x)) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  };
  return {
    shapes: [...barShapes(bars, theme), ...pieceShapes(count, boxOf, look, theme)],
    marks: {
      at: (piece) => {
        const box = boxOf(piece);
        return { outline: boxPath(box), x: box.x + box.width / 2, y: box.y + ROW / 2 };
      },
    },
    at: (x, y) => {
      const top = Math.floor(y / PITCH) * PITCH;
      const piece = lastUpTo(x, top);
      if (piece < 0 || y >= top + ROW) return null;
      const box = boxOf(piece);
      return box.y === top && x < box.x + box.width ? piece : null;
    },
    move: (key, from) => {
      const rows = { ArrowUp: -1, ArrowDown: 1 }[key];
      if (rows === undefined) return keyTarget(key, from, count);
      const box = boxOf(from);
      const y = box.y + rows * PITCH;
      const piece = lastUpTo(box.x + box.width / 2, y);
      return piece >= 0 && boxOf(piece).y === y ? piece : from;
    },
  };
}

function barShapes(bars: readonly Box[], theme: SceneTheme): Shape[] {
  const fill = theme.resolve("var(--surface-3)");
  return bars.map((bar) => ({ kind: "rect", ...bar, fill }));
}

function pieceShapes(
  count: number,
  boxOf: (piece: number) => Box,
  look: SegmentsData["look"],
  theme: SceneTheme,
): Shape[] {
  return Array.from({ length: count }, (_, piece) => piece).flatMap((piece): Shape[] => {
    const { color, part } = look(piece);
    if (color === null) return [];
    const { x, y, width } = boxOf(piece);
    const between = width > SEPARATED ? 0.5 : 0;
    const box = { x, y: y + ROW * (1 - part), width: Math.max(width - between, 0.5) };
    return [{ kind: "rect", ...box, height: ROW * part, fill: theme.resolve(color) }];
  });
}
