import { useMemo } from "react";
import { filterRows } from "./filter";
import { rowCount, type Table } from "./model";
import { localRows, type RowSource } from "./rows";
import { type Sort, sortRows } from "./sort";
import type { ActiveFilter } from "./useFilter";

/** What a table shows of what it has. */
interface TableRows {
  readonly source: RowSource;
  /** Row numbers in the order they are shown. */
  readonly order: readonly number[];
  readonly total: number;
}

/** Filtered and sorted here. */
export function useTableRows(
  table: Table,
  { test }: Pick<ActiveFilter, "test">,
  sorts: readonly Sort[],
): TableRows {
  const total = rowCount(table);
  const kept = useMemo(
    () =>
      test ? filterRows(table.rows, total, test) : Array.from({ length: total }, (_, row) => row),
    [table.rows, total, test],
  );
  const order = useMemo(() => sortRows(kept, table.rows, sorts), [kept, table.rows, sorts]);
  const source = useMemo(() => localRows(table.rows, order), [table.rows, order]);
  return { source, order, total };
}
