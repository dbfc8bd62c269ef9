/** What can be seen of a lane, from the tiles that are here. Pure; arrays are used again, for this runs in every frame. */
import { type Camera, nsPerPixel } from "./camera";
import { itemsOf, NO_NAME, type Tile } from "./decode";
import type { Piece } from "./levels";

/** Columns of the same length; only the first `size` items mean something. */
export class Items {
  size = 0;
  /** Pixels of the page from the left edge; an end is never before its start. */
  x0 = new Float64Array(0);
  x1 = new Float64Array(0);
  row = new Uint32Array(0);
  name = new Uint32Array(0);
  count = new Uint32Array(0);
  operator = new Uint32Array(0);
  /** ns; NaN where it is not known. */
  slack = new Float32Array(0);
  category = new Uint8Array(0);
  fill = new Uint8Array(0);

  reserve(size: number): void {
    if (this.x0.length >= size) return;
    const room = Math.max(size, 2 * this.x0.length, 1024);
    const grown = <A extends Float64Array | Float32Array | Uint32Array | Uint8Array>(
      into: A,
      from: A,
    ): A => {
      into.set(from);
      return into;
    };
    this.x0 = grown(new Float64Array(room), this.x0);
    this.x1 = grown(new Float64Array(room), this.x1);
    this.row = grown(new Uint32Array(room), this.row);
    this.name = grown(new Uint32Array(room), this.name);
    this.count = grown(new Uint32Array(room), this.count);
    this.operator = grown(new Uint32Array(room), this.operator);
    this.slack = grown(new Float32Array(room), this.slack);
    this.category = grown(new Uint8Array(room), this.category);
    this.fill = grown(new Uint8Array(room), this.fill);
  }
}

/**
 * Fills `into` with the items of a lane that touch the window, in order of time. `offset`: ns to add to times of the
 * tiles, for ranks whose clocks begin elsewhere.
 */
export function gather(
  into: Items,
  lane: number,
  pieces: readonly Piece<Tile>[],
  camera: Camera,
  offset = 0,
): void {
  into.size = 0;
  const perPixel = 1 / nsPerPixel(camera);
  const { start: left, end: right } = camera.window;
  for (const { tile, from, to } of pieces) {
    const [first, last] = itemsOf(tile, lane);
    if (first === last) continue;
    into.reserve(into.size + last - first);
    const begin = tile.begin + offset;
    // Stretched tiles reach farther than their piece.
    const [low, high] = [Math.max(left, from + offset), Math.min(right, to + offset)];
    for (let at = firstFrom(tile, first, last, low - begin); at < last; at++) {
      const start = begin + (tile.start[at] ?? 0) * tile.tick;
      if (start > high) break;
      const row = tile.row[at] ?? 0;
      const count = tile.count[at] ?? 0;
      const end = begin + (tile.end[at] ?? 0) * tile.tick;
      const category = tile.category[at] ?? 0;
      const before = into.size - 1;
      // It was in the tile before, too. Pieces that are computed may follow one another with the same event.
      if (
        before >= 0 &&
        start < from + offset &&
        into.row[before] === row &&
        into.count[before] === count &&
        into.category[before] === category
      ) {
        into.x1[before] = Math.max(into.x1[before] ?? 0, (end - left) * perPixel);
        continue;
      }
      const size = into.size++;
      into.x0[size] = (start - left) * perPixel;
      into.x1[size] = (end - left) * perPixel;
      into.row[size] = row;
      into.count[size] = count;
      into.name[size] = tile.name[at] ?? 0;
      into.operator[size] = tile.operator?.[at] ?? NO_NAME;
      into.slack[size] = tile.slack?.[at] ?? Number.NaN;
      into.category[size] = category;
      into.fill[size] = tile.fill[at] ?? 0;
    }
  }
}

/** The first item that ends at `time` (ns from the tile's begin) or later: items of a lane do not overlap. */
function firstFrom({ end, tick }: Tile, first: number, last: number, time: number): number {
  let from = first;
  let to = last;
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((end[middle] ?? 0) * tick < time) from = middle + 1;
    else to = middle;
  }
  return from;
}

/** The item at `x`, else the nearest one no farther than `reach` pixels; -1 for none. */
export function itemAt({ x0, x1, size }: Items, x: number, reach: number): number {
  let from = 0;
  let to = size;
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((x1[middle] ?? 0) < x) from = middle + 1;
    else to = middle;
  }
  let best = -1;
  let distance = reach;
  for (const at of [from - 1, from, from + 1]) {
    if (at < 0 || at >= size) continue;
    const away = Math.max((x0[at] ?? 0) - x, x - (x1[at] ?? 0), 0);
    if (away <= distance && (best < 0 || away < distance)) {
      best = at;
      distance = away;
    }
  }
  return best;
}
