/** How many items a chart shows. Limits charts only, never tables. Pure. */
import type { ChartColor } from "../draw";
import type { Slice } from "./types";

export type TopN = number | "all";

export const DEFAULT_TOP = 10;

/** A positive whole number or `all`; null for anything else. */
export function parseTopN(text: string): TopN | null {
  const trimmed = text.trim();
  if (trimmed === "all") return "all";
  return /^[1-9]\d*$/.test(trimmed) ? Number(trimmed) : null;
}

/** As the address has it. */
export const TOP = {
  parse(text: string): TopN {
    const n = parseTopN(text) ?? DEFAULT_TOP;
    return n === "all" || Number.isSafeInteger(n) ? n : DEFAULT_TOP;
  },
  format: (n: TopN): string => (n === DEFAULT_TOP ? "" : String(n)),
};

export interface Ranked {
  readonly label: string;
  /** The whole text that the label is short for. */
  readonly title?: string;
  readonly value: number;
  readonly color?: ChartColor | undefined;
  /** What it was in the baseline of a comparison. */
  readonly before?: number;
}

/** The `n` largest, in order; items without a value are left out. */
export function largest<T extends Ranked>(items: readonly T[], n: TopN): T[] {
  const sorted = items.filter(({ value }) => value > 0).sort((a, b) => b.value - a.value);
  return n === "all" ? sorted : sorted.slice(0, n);
}

/**
 * The same, with the remainder as a last slice, so that the slices are the whole.
 * `absent`: what belongs to the remainder and is not among the items.
 */
export function slicesWithRest(
  items: readonly Ranked[],
  n: TopN,
  rest: (count: number) => string,
  absent = { count: 0, value: 0 },
): Slice[] {
  const all = largest(items, "all");
  const shown = largest(all, n);
  const hidden = all.slice(shown.length);
  const count = hidden.length + absent.count;
  const value = hidden.reduce((sum, item) => sum + item.value, absent.value);
  if (count === 0 || value <= 0) return shown;
  return [...shown, { label: rest(count), value, color: "var(--series-rest)", rest: true }];
}
