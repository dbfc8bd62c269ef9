import { useMemo, useState } from "react";
import { type FilterProblem, parseFilter } from "./filter";
import { rowCount, type Table } from "./model";

export interface Matches {
  /** 1 for each row that the filter lets through; null without a filter. */
  readonly hits: Uint8Array | null;
  readonly count: number;
  readonly problem: FilterProblem | null;
}

/** Which rows pass the last filter that made sense; for tables that show more than those. */
export function useMatches(table: Table, filter: string, searchKey = "name"): Matches {
  const parsed = useMemo(
    () => parseFilter(filter, table.columns, searchKey),
    [filter, table.columns, searchKey],
  );
  const [valid, setValid] = useState(parsed);
  if (parsed.ok && parsed !== valid) setValid(parsed);
  const active = parsed.ok ? parsed : valid;
  return useMemo(() => {
    const total = rowCount(table);
    const problem = parsed.ok ? null : parsed.problem;
    if (!active.ok || active.empty) return { hits: null, count: total, problem };
    const hits = new Uint8Array(total);
    let count = 0;
    for (let row = 0; row < total; row++) {
      if (!active.test(table.rows, row)) continue;
      hits[row] = 1;
      count++;
    }
    return { hits, count, problem };
  }, [table, active, parsed]);
}
