/** Where the boxes of a flame graph are. Pure. */
import { childrenOf } from "../../draw";

/** A tree as parallel columns; parents stand before their children. */
export interface FlameData {
  readonly size: number;
  /** -1 at the top. */
  readonly parent: ArrayLike<number>;
  /** What belongs to the entry alone; its box also holds those of its children. */
  readonly own: ArrayLike<number>;
}

/** Columns by entry, except `order` and `after`, which are by place in the order of drawing. */
export interface Layout {
  readonly size: number;
  readonly parent: Int32Array;
  readonly depth: Int32Array;
  /** Own and everything below. */
  readonly total: Float64Array;
  /** Where its box begins, in the unit of `total`. */
  readonly left: Float64Array;
  /** The entries from the top down, siblings from left to right. */
  readonly order: Int32Array;
  /** By place: the first place behind everything below. */
  readonly after: Int32Array;
  readonly place: Int32Array;
  readonly whole: number;
  readonly levels: number;
}

/** `heavyFirst`: the largest of siblings at the left; else as they come. */
export function layoutOf(data: FlameData, heavyFirst: boolean): Layout {
  const { size } = data;
  const parent = Int32Array.from({ length: size }, (_, i) => data.parent[i] ?? -1);
  const total = new Float64Array(size);
  const depth = new Int32Array(size);
  let levels = 0;
  for (let i = size - 1; i >= 0; i--) {
    total[i] = at(total, i) + Math.max(0, data.own[i] ?? 0);
    const above = at(parent, i);
    if (above >= 0) total[above] = at(total, above) + at(total, i);
  }
  for (let i = 0; i < size; i++) {
    const above = at(parent, i);
    depth[i] = above < 0 ? 0 : at(depth, above) + 1;
    levels = Math.max(levels, at(depth, i) + 1);
  }
  const { first, rows: children } = childrenOf(parent);
  if (heavyFirst) {
    for (let i = 0; i <= size; i++) {
      const [from, to] = [at(first, i), at(first, i + 1)];
      if (to - from > 1) children.subarray(from, to).sort((a, b) => at(total, b) - at(total, a));
    }
  }

  const left = new Float64Array(size);
  const order = new Int32Array(size);
  const after = new Int32Array(size);
  const place = new Int32Array(size);
  let whole = 0;
  let next = 0;
  // An entry is met twice: going down, and (as ~entry) when all below it have their places.
  const waiting: number[] = [];
  const push = (from: number, to: number, start: number): number => {
    let x = start;
    for (let k = from; k < to; k++) {
      left[at(children, k)] = x;
      x += at(total, at(children, k));
    }
    for (let k = to - 1; k >= from; k--) waiting.push(at(children, k));
    return x;
  };
  whole = push(at(first, 0), at(first, 1), 0);
  for (let entry = waiting.pop(); entry !== undefined; entry = waiting.pop()) {
    if (entry < 0) {
      after[at(place, ~entry)] = next;
      continue;
    }
    place[entry] = next;
    order[next++] = entry;
    waiting.push(~entry);
    push(at(first, entry + 1), at(first, entry + 2), at(left, entry));
  }
  return { size, parent, depth, total, left, order, after, place, whole, levels };
}

/** What can be seen. x and width in pixels; entry -1: several that are too small to be drawn one by one. */
export interface Box {
  readonly entry: number;
  readonly level: number;
  readonly x: number;
  readonly width: number;
}

/** Narrower boxes are not drawn. */
export const SMALLEST = 0.5;

/**
 * The boxes between two levels when `focus` (-1: everything) fills the width. What is around the focus is as
 * wide. Costs as much as there is to see, not as there is.
 */
export function boxesOf(
  layout: Layout,
  focus: number,
  width: number,
  fromLevel = 0,
  toLevel = Number.POSITIVE_INFINITY,
): Box[] {
  const { order, after, total, left, depth } = layout;
  const { span, origin, from, end } = partOf(layout, focus);
  if (!(span > 0) || width <= 0) return [];
  const boxes = chainOf(layout, focus)
    .slice(0, -1)
    .map((entry): Box => ({ entry, level: at(depth, entry), x: 0, width }))
    .filter(({ level }) => level >= fromLevel && level < toLevel);
  const scale = width / span;
  const small = new Small(boxes);
  let place = from;
  while (place < end) {
    const entry = at(order, place);
    const level = at(depth, entry);
    const x = (at(left, entry) - origin) * scale;
    const boxWidth = at(total, entry) * scale;
    const isSmall = boxWidth < SMALLEST;
    place = level >= toLevel || isSmall ? at(after, place) : place + 1;
    if (level >= toLevel) continue;
    if (isSmall) small.add(level, x, boxWidth, level >= fromLevel);
    else {
      small.flush();
      if (level >= fromLevel) boxes.push({ entry, level, x, width: boxWidth });
    }
  }
  small.flush();
  return boxes;
}

/** An entry and all below it, or everything: how much that is, where it begins, and its places in the order of drawing. */
export function partOf({ size, whole, total, left, after, place }: Layout, focus: number) {
  if (focus < 0) return { span: whole, origin: 0, from: 0, end: size };
  const from = at(place, focus);
  return { span: at(total, focus), origin: at(left, focus), from, end: at(after, from) };
}

/** Neighbours too small to be seen are drawn as one, so that a place with many of them is not empty. */
class Small {
  private level = -1;
  private x = 0;
  private end = 0;

  constructor(private readonly boxes: Box[]) {}

  add(level: number, x: number, width: number, isShown: boolean): void {
    if (this.level !== level || x - this.end > SMALLEST) {
      this.flush();
      if (isShown) [this.level, this.x] = [level, x];
    }
    this.end = x + width;
  }

  flush(): void {
    const { level, x, end } = this;
    if (level >= 0 && end - x >= SMALLEST) this.boxes.push({ entry: -1, level, x, width: end - x });
    this.level = -1;
  }
}

/** From the top down to an entry and the entry itself. */
export function chainOf({ parent }: Layout, entry: number): number[] {
  const chain: number[] = [];
  for (let i = entry; i >= 0; i = at(parent, i)) chain.push(i);
  return chain.reverse();
}

/** Levels there are below and around a focus. */
export function levelsOf(layout: Layout, focus: number): number {
  if (focus < 0) return layout.levels;
  const place = at(layout.place, focus);
  let levels = at(layout.depth, focus) + 1;
  for (let p = place; p < at(layout.after, place); p++) {
    levels = Math.max(levels, at(layout.depth, at(layout.order, p)) + 1);
  }
  return levels;
}

/** Of a typed array, where the index is known to be inside. */
export function at(values: Int32Array | Float64Array | Uint8Array, index: number): number {
  return values[index] as number;
}
