/** What the server declares of its columns holds on the page: their order, and that some are hidden. */
import { describe, expect, it } from "vitest";
import { declared, derive, type Table } from "../table";
import { workTable } from "./compare/change";
import { nameTable } from "./criticalpath/Names";
import { shown as rangesOfRanks } from "./distributed/RangesOfRanks";
import { operationTable } from "./distributed/tables";
import { kernelTable } from "./kernels/columns";
import { moduleTable } from "./modules/columns";
import { operatorTable } from "./operators/columns";
import { ownersTable } from "./operators/owners";
import { nodeTable } from "./program/ReplayedGraphs";
import { rooflineTable } from "./roofline/columns";
import { stackTable } from "./stacks/rows";

const KEYS = ["zebra", "name", "secret", "total_ns", "apple"];

/** An answer with columns that no view has heard of. */
const ANSWER = {
  meta: { group_by: "name", weight: "host", direction: "top_down", all_ns: 4, device_busy: 1 },
  columns: KEYS.map((key) => ({
    key,
    id: "",
    label: key,
    help: "",
    unit: null,
    type: key === "name" ? "string" : "number",
    ...(key === "secret" && { hidden: true }),
  })),
  rows: Object.fromEntries(KEYS.map((key) => [key, key === "name" ? ["a", "b"] : [1, 2]])),
};

const SHAPES: Readonly<Record<string, (answer: never) => Table>> = {
  kernelTable,
  moduleTable: (answer) => moduleTable(answer, "host_total_ns"),
  nodeTable: (answer) => nodeTable(answer),
  operationTable: (answer) => operationTable(answer, null, null),
  namesOnPath: (answer) =>
    nameTable({ ...(answer as typeof ANSWER), steps: { names: [] }, total_ns: 1 } as never, []),
  operatorTable,
  ownersTable: ({ columns }: typeof ANSWER) =>
    ownersTable({ unattributed: [], unattributed_columns: columns as never }).table,
  rangesOfRanks,
  rooflineTable,
  workTable: ({ columns }: typeof ANSWER) => workTable(columns as never, []),
  stackTable: (answer) => stackTable(answer, (answer as typeof ANSWER).rows as never),
};

describe("columns stand as the server declares them, in", () => {
  it.each(Object.entries(SHAPES))("%s", (name, shape) => {
    const { columns } = shape(ANSWER as never);
    const own = columns.filter(({ key }) => KEYS.includes(key));
    // A list has no menu to ask for more.
    const left = name === "nodeTable" ? KEYS.filter((key) => key !== "secret") : KEYS;
    expect(own.map(({ key }) => key)).toEqual(left);
    expect(own.filter(({ hidden }) => !hidden).map(({ key }) => key)).not.toContain("secret");
    expect(own.filter(({ hidden }) => hidden).length).toBe(left.length - 4);
  });
});

it("the share of a hidden column is hidden", () => {
  const columns = ANSWER.columns.map((column) => ({ ...column, total: 3 })) as Table["columns"];
  const { columns: all } = derive({ columns, rows: ANSWER.rows }, declared({ columns }));
  expect(all.filter(({ hidden }) => hidden).map(({ key }) => key)).toEqual([
    "secret",
    "secret_share",
  ]);
});
