import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { foundAtOnce } from "./cases";
import { declared, derive } from "./derive";
import { filterRows, parseFilter } from "./filter";
import { type Column, type Rows, rowCount } from "./model";
import { parseSorts, sortRows } from "./sort";

interface Case {
  readonly filter?: string;
  readonly sort?: string;
  readonly rows?: number[];
  readonly problem?: string;
}

interface Cases {
  readonly columns: Column[];
  readonly rows: Rows;
  readonly filters: Case[];
  readonly sorts: Case[];
  readonly both: Case[];
}

// The server is held to the same cases: tests/unit/test_table_query.py.
const cases: Cases = JSON.parse(readFileSync("../tests/cases/table_query.json", "utf-8"));
const table = derive(cases, declared(cases));

describe("filters and sorts that the server knows, too", () => {
  const all = [...cases.filters, ...cases.sorts, ...cases.both];
  it.each(all.map((each) => [JSON.stringify(each), each] as const))("%s", (_, each) => {
    const result = parseFilter(each.filter ?? "", table.columns, "name");
    if (!result.ok) {
      expect(result.problem.kind).toBe(each.problem);
      return;
    }
    const kept = filterRows(table.rows, rowCount(table), foundAtOnce(result, table.rows));
    expect(each.problem).toBeUndefined();
    expect(sortRows(kept, table.rows, parseSorts(each.sort ?? "", table.columns))).toEqual(
      each.rows,
    );
  });
});
