import { useMemo } from "react";
import type { FilterProblem } from "./filter";
import { rowCount, type Table } from "./model";
import { useFilter } from "./useFilter";

interface Matches {
  /** 1 for each row that the filter lets through; null without a filter. */
  readonly hits: Uint8Array | null;
  readonly count: number;
  readonly problem: FilterProblem | null;
  /** Whether regular expressions are still being matched. */
  readonly pending: boolean;
}

/** Which rows pass the last filter that made sense; for tables that show more than those. */
export function useMatches(table: Table, filter: string, searchKey = "name"): Matches {
  const { test, problem, pending } = useFilter(table, filter, searchKey);
  const found = useMemo(() => {
    const total = rowCount(table);
    if (!test) return { hits: null, count: total };
    const hits = new Uint8Array(total);
    let count = 0;
    for (let row = 0; row < total; row++) {
      if (!test(table.rows, row)) continue;
      hits[row] = 1;
      count++;
    }
    return { hits, count };
  }, [table, test]);
  return useMemo(() => ({ ...found, problem, pending }), [found, problem, pending]);
}
