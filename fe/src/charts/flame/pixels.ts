/** Boxes as pixels: on a canvas a hundred thousand of them would take a hundred thousand calls. Pure. */
import { pack, type Raster } from "../../draw";
import type { Box } from "./layout";

/** Wider boxes leave a gap to the next one. */
const GAP_FROM = 3;

/**
 * `colors`: `#rrggbb`; `colorOf`: a place in them. `row`, `gap` and `top` (what is scrolled out of sight) are pixels of
 * the page.
 */
export function rasterize(
  { pixels, width, height, ratio }: Raster,
  boxes: readonly Box[],
  colors: readonly string[],
  colorOf: (box: Box) => number,
  { row, gap, top }: { row: number; gap: number; top: number },
): void {
  pixels.fill(0);
  const between = Math.max(1, Math.round(gap * ratio));
  const packed = colors.map(pack);
  // By level: the first row of pixels and the one behind the last.
  const from: number[] = [];
  const to: number[] = [];
  const levels = Math.ceil((height / ratio + top) / row);
  for (let level = 0; level < levels; level++) {
    from.push(Math.max(0, Math.round((level * row - top) * ratio)));
    to.push(Math.min(height, Math.round(((level + 1) * row - top) * ratio) - between));
  }
  for (const box of boxes) {
    const begin = from[box.level] ?? 0;
    if ((to[box.level] ?? 0) <= begin) continue;
    const x = Math.max(0, Math.round(box.x * ratio));
    const next = Math.min(width, Math.round((box.x + box.width) * ratio));
    const end = next - x >= GAP_FROM ? next - between : Math.min(width, Math.max(next, x + 1));
    const color = packed[colorOf(box)] ?? 0;
    for (let at = begin * width + x; at < begin * width + end; at++) pixels[at] = color;
  }
  // A level is as many equal rows.
  for (let level = 0; level < levels; level++) {
    const begin = from[level] ?? 0;
    for (let y = begin + 1; y < (to[level] ?? 0); y++)
      pixels.copyWithin(y * width, begin * width, (begin + 1) * width);
  }
}
