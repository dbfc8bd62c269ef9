import { type Cell, type Column, numberAt, type Table } from "./model";

export interface Derivation {
  readonly column: Column;
  /** The new column stands behind this one; without it the derivation is skipped. */
  readonly after: string;
  readonly value: (table: Table, row: number) => Cell;
}

/** The table with the derived columns put behind their sources. */
export function derive(table: Table, derivations: readonly Derivation[]): Table {
  const columns = [...table.columns];
  const rows: Record<string, readonly Cell[]> = { ...table.rows };
  for (const { column, after, value } of derivations) {
    const place = columns.findIndex((existing) => existing.key === after);
    const length = table.rows[after]?.length ?? 0;
    if (place < 0) continue;
    columns.splice(place + 1, 0, column);
    rows[column.key] = Array.from({ length }, (_, row) => value(table, row));
  }
  return { columns, rows };
}

/** `source` as percent of `total`. */
export function shareOf(
  source: string,
  total: number | null | undefined,
  column: Pick<Column, "key" | "label" | "help">,
): Derivation {
  return {
    column: { type: "number", unit: "percent", bar: true, ...column },
    after: source,
    value: (table, row) => {
      const part = numberAt(table.rows, source, row);
      return part === null || !total ? null : (part / total) * 100;
    },
  };
}

/** `source` divided by `calls`, in the unit of `source`. */
export function perCall(
  source: string,
  column: Pick<Column, "key" | "label" | "help" | "hidden">,
  after = source,
): Derivation {
  return {
    column: { type: "number", unit: "ns", ...column },
    after,
    value: (table, row) => {
      const sum = numberAt(table.rows, source, row);
      const calls = numberAt(table.rows, "calls", row);
      return sum === null || !calls ? null : sum / calls;
    },
  };
}
