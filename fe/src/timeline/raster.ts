/** Lanes as pixels: tens of thousands of items cost some additions each, and no call of the canvas. Pure. */
import type { Raster } from "../draw";
import type { Items } from "./items";

/** How dark a colour is by how much of a pixel is covered. */
export const SHADES = 16;
/** What ran for no more than an instant is seen, too. */
const FAINTEST = 5;
/** Cover of an event without length. */
const INSTANT = 0.7;
/** Wider items leave a gap to the next one. */
const GAP_FROM = 4;
/** Cells are hatched from this width on. */
const HATCH_FROM = 4;
const HATCH_EVERY = 3;
const HATCH_LESS = 5;

/** What is added up for each column of pixels of one lane. */
export class Columns {
  cover = new Float32Array(0);
  private most = new Float32Array(0);
  private color = new Uint16Array(0);
  private less = new Uint8Array(0);

  reset(width: number): void {
    if (this.cover.length < width) {
      this.cover = new Float32Array(width);
      this.most = new Float32Array(width);
      this.color = new Uint16Array(width);
      this.less = new Uint8Array(width);
      return;
    }
    this.cover.fill(0, 0, width);
    this.most.fill(0, 0, width);
    this.less.fill(0, 0, width);
  }

  /** All items of a lane. `colorOf`: a position among the colours. */
  add(items: Items, width: number, ratio: number, colorOf: (item: number) => number): void {
    for (let item = 0; item < items.size; item++) {
      const x0 = (items.x0[item] ?? 0) * ratio;
      const x1 = (items.x1[item] ?? 0) * ratio;
      if (x1 < 0 || x0 >= width) continue;
      const fill = (items.fill[item] ?? 0) / 255;
      const which = colorOf(item);
      const single = (items.count[item] ?? 0) === 1;
      if (single && x1 - x0 >= GAP_FROM * ratio) this.addWide(x0, x1, width, fill, which);
      else this.addCell(x0, x1, width, fill, which, !single && x1 - x0 >= HATCH_FROM * ratio);
    }
  }

  /** An item with a gap to the next one. */
  private addWide(x0: number, x1: number, width: number, fill: number, which: number): void {
    const { cover, most, color, less } = this;
    // What goes on to the right of the picture has no end to be told from the next one.
    const last = x1 <= width ? Math.round(x1) - 1 : width;
    const first = Math.min(Math.max(0, Math.round(x0)), width - 1);
    // Of one that is nearly out of the picture there is a pixel.
    for (let x = first; x < Math.max(last, first + 1); x++) {
      cover[x] = Math.max(cover[x] ?? 0, fill);
      most[x] = 1;
      color[x] = which;
      less[x] = 0;
    }
  }

  /** A part of a pixel is drawn as a part: rounding would leave stripes between cells that touch. */
  private addCell(
    x0: number,
    x1: number,
    width: number,
    fill: number,
    which: number,
    hatched: boolean,
  ): void {
    const { cover, most, color, less } = this;
    const end = Math.min(width, x1 > x0 ? Math.ceil(x1) : Math.floor(x0) + 1);
    for (let x = Math.max(0, Math.floor(x0)); x < end; x++) {
      const share = Math.min(x1, x + 1) - Math.max(x0, x);
      const part = x1 > x0 ? Math.max(share * fill, 1e-3) : INSTANT;
      cover[x] = (cover[x] ?? 0) + part;
      if (part <= (most[x] ?? 0)) continue;
      most[x] = part;
      color[x] = which;
      less[x] = hatched && x % HATCH_EVERY === 0 ? HATCH_LESS : 0;
    }
  }

  /** Writes the columns as a band of equal rows, `from` included, `to` not. `shades`: SHADES for each colour. */
  write({ pixels, width }: Raster, from: number, to: number, shades: Uint32Array): void {
    if (to <= from) return;
    const { cover, color, less } = this;
    const begin = from * width;
    for (let x = 0; x < width; x++) {
      const covered = cover[x] ?? 0;
      if (covered === 0) continue;
      const dark = Math.ceil(Math.min(1, covered) * (SHADES - 1)) - (less[x] ?? 0);
      pixels[begin + x] = shades[(color[x] ?? 0) * SHADES + Math.max(FAINTEST, dark)] ?? 0;
    }
    for (let y = from + 1; y < to; y++) pixels.copyWithin(y * width, begin, begin + width);
  }
}

/** One colour, packed as in Colors, between two rows and two columns of pixels; rows out of the picture are left out. */
export function fillRect(
  { pixels, width, height }: Raster,
  top: number,
  bottom: number,
  left: number,
  right: number,
  color: number,
): void {
  const last = Math.min(height, bottom);
  // What is drawn so is a few pixels wide: a call for each row of it would cost more than the pixels.
  for (let y = Math.max(0, top); y < last; y++)
    for (let at = y * width + left; at < y * width + right; at++) pixels[at] = color;
}
