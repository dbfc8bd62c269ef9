/** Rows of a table as charts of the largest want them. Pure. */
import type { Ranked } from "../charts";
import { byName, numberAt, type Rows, rowCount, type Table, textAt } from "../table";

export type RowColor = (rows: Rows, row: number) => Ranked["color"];

/** Each row with its value in a column, and what that was in a baseline. */
export function ranked(
  { rows, columns }: Table,
  column: string,
  color: RowColor | undefined,
  baseline: Table | null = null,
): Ranked[] {
  const before = baseline && byName(baseline, column);
  return Array.from({ length: rowCount({ rows, columns }) }, (_, row) => {
    const name = textAt(rows, "name", row);
    return {
      ...(rows.short_name
        ? { label: textAt(rows, "short_name", row), title: name }
        : { label: name }),
      value: numberAt(rows, column, row) ?? 0,
      color: color?.(rows, row),
      ...(before && { before: before.get(name) ?? 0 }),
    };
  });
}
