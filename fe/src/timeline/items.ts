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

  /** Whether the last item is the one at a place of a tile. */
  endsWith(tile: Tile, at: number): boolean {
    const last = this.size - 1;
    return (
      last >= 0 &&
      this.row[last] === tile.row[at] &&
      this.count[last] === tile.count[at] &&
      this.category[last] === tile.category[at]
    );
  }

  extend(x1: number): void {
    const last = this.size - 1;
    this.x1[last] = Math.max(this.x1[last] ?? 0, x1);
  }

  /** There is room for it. */
  push(tile: Tile, at: number, x0: number, x1: number): void {
    const size = this.size++;
    this.x0[size] = x0;
    this.x1[size] = x1;
    this.row[size] = tile.row[at] ?? 0;
    this.count[size] = tile.count[at] ?? 0;
    this.name[size] = tile.name[at] ?? 0;
    this.operator[size] = tile.operator?.[at] ?? NO_NAME;
    this.slack[size] = tile.slack?.[at] ?? Number.NaN;
    this.category[size] = tile.category[at] ?? 0;
    this.fill[size] = tile.fill[at] ?? 0;
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
      const x1 = (begin + (tile.end[at] ?? 0) * tile.tick - left) * perPixel;
      // It was in the tile before, too. Pieces that are computed may follow one another with the same event.
      if (start < from + offset && into.endsWith(tile, at)) into.extend(x1);
      else into.push(tile, at, (start - left) * perPixel, x1);
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
