/** Moving through a flame graph by keys, and searching in it. Pure. */
import { at, type Layout, partOf } from "./layout";

export type Move = "up" | "down" | "left" | "right";

/** Where a key leads from an entry; the entry itself where there is nothing. Stays within `focus`'s part. */
export function moved(layout: Layout, entry: number, move: Move, focus: number): number {
  switch (move) {
    case "up":
      return at(layout.parent, entry) >= 0 ? at(layout.parent, entry) : entry;
    case "down":
      return towards(layout, entry, focus) ?? largestChild(layout, entry) ?? entry;
    case "left":
      return neighbour(layout, entry, focus, -1) ?? entry;
    case "right":
      return neighbour(layout, entry, focus, 1) ?? entry;
  }
}

/** Around the focus there is only one way down. */
function towards(layout: Layout, entry: number, focus: number): number | undefined {
  for (let i = focus; i >= 0; i = at(layout.parent, i)) {
    if (at(layout.parent, i) === entry) return i;
  }
  return undefined;
}

function largestChild({ order, after, place, total }: Layout, entry: number): number | undefined {
  let found: number | undefined;
  for (let p = at(place, entry) + 1; p < at(after, at(place, entry)); p = at(after, p)) {
    const child = at(order, p);
    if (at(total, child) > 0 && (found === undefined || at(total, child) > at(total, found)))
      found = child;
  }
  return found;
}

/** The next box of the same level, whatever its parent is. */
function neighbour(layout: Layout, entry: number, focus: number, step: 1 | -1): number | undefined {
  const { order, place, depth, total } = layout;
  const { from, end } = partOf(layout, focus);
  const level = at(depth, entry);
  for (let p = at(place, entry) + step; p >= from && p < end; p += step) {
    const other = at(order, p);
    if (at(depth, other) === level && at(total, other) > 0) return other;
  }
  return undefined;
}

export interface Found {
  readonly entries: number;
  /** Of the whole, or of the focus: what is found, and everything below it; nothing is counted twice. */
  readonly share: number;
}

/** `hits`: 1 for each entry that matches. */
export function found(layout: Layout, hits: Uint8Array, focus: number): Found {
  const { order, after, total } = layout;
  const { span: whole, from, end } = partOf(layout, focus);
  let entries = 0;
  let sum = 0;
  let covered = -1;
  for (let p = from; p < end; p++) {
    const entry = at(order, p);
    if (at(hits, entry) === 0) continue;
    entries++;
    if (p < covered) continue;
    covered = at(after, p);
    sum += at(total, entry);
  }
  return { entries, share: whole > 0 ? sum / whole : 0 };
}
