import { type Cell, type Column, isMissing, type Rows } from "./model";

export interface Sort {
  readonly key: string;
  readonly descending: boolean;
}

// One collator: localeCompare builds one at each call, which makes sorting 100k names slow.
const collator = new Intl.Collator("en", { numeric: true });

export function compareCells(a: Cell, b: Cell): number {
  if (typeof a === "string" && typeof b === "string") return collator.compare(a, b);
  return Number(a) - Number(b);
}

/** The row numbers in a new order. Missing values are last in both directions; ties keep their order. */
export function sortRows(order: readonly number[], rows: Rows, sorts: readonly Sort[]): number[] {
  const keys = sorts.flatMap(({ key, descending }) => {
    const values = rows[key];
    return values ? [{ values, sign: descending ? -1 : 1 }] : [];
  });
  if (keys.length === 0) return [...order];
  return [...order].sort((a, b) => {
    for (const { values, sign } of keys) {
      const left = values[a];
      const right = values[b];
      const leftMissing = isMissing(left);
      const rightMissing = isMissing(right);
      if (leftMissing !== rightMissing) return leftMissing ? 1 : -1;
      if (leftMissing) continue;
      const difference = compareCells(left, right);
      if (difference !== 0) return sign * difference;
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
  return text.split(",").flatMap((part) => {
    const descending = part.startsWith("-");
    const key = descending ? part.slice(1) : part;
    return columns.some((column) => column.key === key) ? [{ key, descending }] : [];
  });
}
