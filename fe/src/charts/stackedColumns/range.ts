/** Which stretch of the items is shown, by position in their order. Pure. */

import type { Range } from "../merge";

export type { Range };

/** Fewer than this are not zoomed into any further. */
const FEWEST = 5;

/** Whole positions within 0…total, at least one of them; null when that is everything. */
export function clampRange({ from, to }: Range, total: number): Range | null {
  const length = Math.min(total, Math.max(1, Math.round(to - from)));
  const start = Math.min(Math.max(0, Math.round(from)), total - length);
  return length >= total ? null : { from: start, to: start + length };
}

/** `factor` below 1 shows fewer; `center` keeps its place. */
export function zoomRange(
  range: Range | null,
  total: number,
  center: number,
  factor: number,
): Range | null {
  const { from, to } = range ?? { from: 0, to: total };
  const wanted = (to - from) * factor;
  const length = factor < 1 ? Math.max(Math.min(FEWEST, to - from), Math.floor(wanted)) : wanted;
  const before = (center - from) / Math.max(1, to - from);
  const start = center - before * length;
  return clampRange({ from: start, to: start + length }, total);
}

export function moveRange(range: Range | null, total: number, by: number): Range | null {
  return range && clampRange({ from: range.from + by, to: range.to + by }, total);
}

/** What a merged column opens into: its items, with some around where they are few. */
export function openRange({ from, to }: Range, total: number): Range | null {
  const spare = Math.max(0, FEWEST * 4 - (to - from)) / 2;
  return clampRange({ from: Math.floor(from - spare), to: Math.ceil(to + spare) }, total);
}

/** Of a range that was wanted what there is of it; null for all, and when nothing of it is there. */
export function rangeWithin(wanted: Range | null, total: number): Range | null {
  return wanted && wanted.from < total ? clampRange(wanted, total) : null;
}

/** As the address has it, `120-260`: positions counted from 0, the last one not included. */
export const RANGE = {
  parse(text: string): Range | null {
    const match = /^(\d{1,9})-(\d{1,9})$/.exec(text);
    const range = { from: Number(match?.[1]), to: Number(match?.[2]) };
    return range.from < range.to ? range : null;
  },
  format: (range: Range | null): string => (range ? `${range.from}-${range.to}` : ""),
};
