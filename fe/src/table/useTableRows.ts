import { useMemo, useState } from "react";
import { type FilterProblem, filterRows, parseFilter } from "./filter";
import { rowCount, type Table } from "./model";
import { type Sort, sortRows } from "./sort";

export interface TableRows {
  /** Row numbers in the order they are shown. */
  readonly order: readonly number[];
  readonly total: number;
  readonly problem: FilterProblem | null;
}

/** What is shown: filtered by the last filter that made sense, then sorted. */
export function useTableRows(
  table: Table,
  filter: string,
  searchKey: string,
  sorts: readonly Sort[],
): TableRows {
  const total = rowCount(table);
  const parsed = useMemo(
    () => parseFilter(filter, table.columns, searchKey),
    [filter, table.columns, searchKey],
  );
  const [valid, setValid] = useState(parsed);
  if (parsed.ok && parsed !== valid) setValid(parsed);
  const active = parsed.ok ? parsed : valid;

  const kept = useMemo(
    () =>
      active.ok && !active.empty
        ? filterRows(table.rows, total, active.test)
        : Array.from({ length: total }, (_, row) => row),
    [table.rows, total, active],
  );
  const order = useMemo(() => sortRows(kept, table.rows, sorts), [kept, table.rows, sorts]);
  return { order, total, problem: parsed.ok ? null : parsed.problem };
}
