import type { Column, Rows } from "./model";
import { ranks } from "./natural";

export interface Sort {
  readonly key: string;
  readonly descending: boolean;
}

/** The server takes no more. */
const MOST_SORTS = 10;

/** The row numbers in a new order. Missing values are last in both directions; ties keep their order. */
export function sortRows(order: readonly number[], rows: Rows, sorts: readonly Sort[]): number[] {
  const keys = sorts.flatMap(({ key, descending }) => {
    const values = rows[key];
    return values ? [{ values: ranks(values), sign: descending ? -1 : 1 }] : [];
  });
  if (keys.length === 0) return [...order];
  return [...order].sort((a, b) => {
    for (const { values, sign } of keys) {
      const left = values[a] as number;
      const right = values[b] as number;
      if (left < right) return -sign;
      if (left > right) return sign;
      if (left === right) continue;
      const leftMissing = Number.isNaN(left);
      if (leftMissing !== Number.isNaN(right)) return leftMissing ? 1 : -1;
    }
    return 0;
  });
}

/** What a click on a header does: largest first for numbers, A to Z for text, then the other way, then none. */
export function toggleSort(sorts: readonly Sort[], column: Column, additive: boolean): Sort[] {
  const first = column.type !== "string";
  const current = sorts.find(({ key }) => key === column.key);
  const next =
    current === undefined
      ? { key: column.key, descending: first }
      : current.descending === first
        ? { key: column.key, descending: !first }
        : null;
  if (!additive) return next ? [next] : [];
  if (current === undefined) return next ? [...sorts, next] : [...sorts];
  return sorts.flatMap((sort) => (sort.key === column.key ? (next ? [next] : []) : [sort]));
}

/** `-device_self_ns,name`: the URL's form. */
export function formatSorts(sorts: readonly Sort[]): string {
  return sorts.map(({ key, descending }) => `${descending ? "-" : ""}${key}`).join(",");
}

/** Columns that the table does not have are left out. */
export function parseSorts(text: string, columns: readonly Column[]): Sort[] {
  const sorts = text.split(",").flatMap((part) => {
    const descending = part.startsWith("-");
    const key = descending ? part.slice(1) : part;
    return columns.some((column) => column.key === key) ? [{ key, descending }] : [];
  });
  return sorts.slice(0, MOST_SORTS);
}
