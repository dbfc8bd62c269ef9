/** The arithmetic of the strip on which steps are chosen. Pure. */
import type { StepRange } from "../../state";
import { jump } from "../../ui";

/** 0…1 of the longest. Where steps outnumber the columns, a column shows the longest of its steps. */
export function barHeights(durations: readonly number[], columns: number): number[] {
  const longest = Math.max(0, ...durations);
  if (longest <= 0) return durations.slice(0, columns).map(() => 0);
  const n = Math.min(columns, durations.length);
  return Array.from({ length: n }, (_, column) => {
    const from = Math.floor((column * durations.length) / n);
    const to = Math.floor(((column + 1) * durations.length) / n);
    return Math.max(...durations.slice(from, to)) / longest;
  });
}

/** The outline of the bars in a box of one unit per bar and the height 1. */
export function barPath(heights: readonly number[]): string {
  // Between a handful of bars there is room for a gap; hundreds are a silhouette.
  const gap = heights.length <= 60 ? 0.1 : 0;
  return heights
    .map((height, at) => {
      // The shortest step is still a step.
      const top = Math.round((1 - Math.max(height, 0.04)) * 1000) / 1000;
      return `M${at + gap} 1V${top}H${at + 1 - gap}V1Z`;
    })
    .join("");
}

/** The step at a place, 0…1 of the width. */
export function stepAt(place: number, count: number): number {
  return Math.min(count - 1, Math.max(0, Math.floor(place * count)));
}

export type Thumb = "first" | "last";

/** Moves one end; it stops at the other. */
export function moveEnd(range: StepRange, thumb: Thumb, to: number, count: number): StepRange {
  return thumb === "first"
    ? { ...range, first: Math.min(Math.max(0, to), range.last) }
    : { ...range, last: Math.max(Math.min(count - 1, to), range.first) };
}

/** Moves the whole range; it keeps its length at the ends of the strip. */
export function shift(range: StepRange, by: number, count: number): StepRange {
  const moved = Math.min(Math.max(by, -range.first), count - 1 - range.last);
  return { first: range.first + moved, last: range.last + moved };
}

/** Where a key moves a thumb, or null when it means nothing to a slider. */
export function keyTarget(key: string, at: number, count: number): number | null {
  const page = Math.max(1, Math.round(count / 10));
  switch (key) {
    case "ArrowRight":
    case "ArrowUp":
      return at + 1;
    case "ArrowLeft":
    case "ArrowDown":
      return at - 1;
    // Of a slider, up is on.
    case "PageUp":
      return at + page;
    case "PageDown":
      return at - page;
    default:
      return jump(key, at, count, page);
  }
}

/** What a drag does: it depends on where it began. */
export type Grip =
  | { readonly kind: "end"; readonly thumb: Thumb }
  | { readonly kind: "shift"; readonly from: number; readonly range: StepRange }
  | { readonly kind: "new"; readonly from: number };

/** `reach`: how far from an end, 0…1 of the width, still means this end. */
export function gripAt(place: number, range: StepRange, count: number, reach: number): Grip {
  const left = range.first / count;
  const right = (range.last + 1) / count;
  // Of two thumbs close together the nearer one is meant.
  const toLeft = Math.abs(place - left);
  const toRight = Math.abs(place - right);
  if (Math.min(toLeft, toRight) <= reach) {
    return { kind: "end", thumb: toLeft < toRight ? "first" : "last" };
  }
  const from = stepAt(place, count);
  const whole = range.first === 0 && range.last === count - 1;
  return !whole && place > left && place < right
    ? { kind: "shift", from, range }
    : { kind: "new", from };
}

/** The range while the pointer is at `place`. */
export function dragged(grip: Grip, range: StepRange, place: number, count: number): StepRange {
  if (grip.kind === "end") {
    // A thumb stands between two steps: the nearest such place counts.
    const edge = Math.round(Math.min(1, Math.max(0, place)) * count);
    return moveEnd(range, grip.thumb, grip.thumb === "first" ? edge : edge - 1, count);
  }
  const at = stepAt(place, count);
  if (grip.kind === "shift") return shift(grip.range, at - grip.from, count);
  return { first: Math.min(grip.from, at), last: Math.max(grip.from, at) };
}
