import { useMemo, useState } from "react";
import { type FilterProblem, type FilterResult, filterRows, parseFilter } from "./filter";
import { rowCount, type Table } from "./model";
import { localRows, type RowSource } from "./rows";
import { type Sort, sortRows } from "./sort";

/** What a table shows of what it has. */
export interface TableRows {
  readonly source: RowSource;
  /** Row numbers in the order they are shown. */
  readonly order: readonly number[];
  readonly total: number;
}

export interface ActiveFilter {
  readonly parsed: FilterResult;
  /** The text that `parsed` is of. */
  readonly text: string;
  /** What is wrong with the text in the box, if something is. */
  readonly problem: FilterProblem | null;
}

/** The last filter that made sense. */
export function useFilter(table: Table, filter: string, searchKey: string): ActiveFilter {
  const parsed = useMemo(
    () => ({ parsed: parseFilter(filter, table.columns, searchKey), text: filter }),
    [filter, table.columns, searchKey],
  );
  const [valid, setValid] = useState(parsed);
  if (parsed.parsed.ok && parsed !== valid) setValid(parsed);
  const { parsed: result } = parsed;
  return result.ok
    ? { ...parsed, problem: null }
    : { ...valid, text: valid.parsed.ok ? valid.text : "", problem: result.problem };
}

/** Filtered and sorted here. */
export function useTableRows(
  table: Table,
  { parsed }: ActiveFilter,
  sorts: readonly Sort[],
): TableRows {
  const total = rowCount(table);
  const kept = useMemo(
    () =>
      parsed.ok && !parsed.empty
        ? filterRows(table.rows, total, parsed.test)
        : Array.from({ length: total }, (_, row) => row),
    [table.rows, total, parsed],
  );
  const order = useMemo(() => sortRows(kept, table.rows, sorts), [kept, table.rows, sorts]);
  const source = useMemo(() => localRows(table.rows, order), [table.rows, order]);
  return { source, order, total };
}
