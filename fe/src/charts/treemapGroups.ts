/** From parts to groups of a treemap. Pure. */
import { seriesColor } from "../draw";
import type { TreemapGroup } from "./types";

/** More boxes cannot be seen. */
const MOST = 200;

interface Part {
  readonly group: string;
  readonly label: string;
  readonly value: number;
}

/** Groups and their parts, the largest first. `rest`: what the smallest of very many are called together. */
export function treemapGroups(
  parts: readonly Part[],
  rest: (count: number) => string,
): TreemapGroup[] {
  const sorted = parts.filter(({ value }) => value > 0).sort((a, b) => b.value - a.value);
  const groups = new Map<string, { label: string; value: number }[]>();
  for (const { group, label, value } of sorted.slice(0, MOST)) {
    const items = groups.get(group) ?? [];
    groups.set(group, items);
    items.push({ label, value });
  }
  const others = sorted.slice(MOST);
  if (others.length > 0) groups.set(rest(others.length), [{ label: "", value: sumOf(others) }]);
  return [...groups]
    .sort(([, a], [, b]) => sumOf(b) - sumOf(a))
    .map(([label, items], at) => ({ label, items, color: seriesColor(at) }));
}

function sumOf(items: readonly { readonly value: number }[]): number {
  return items.reduce((sum, { value }) => sum + value, 0);
}
