import { describe, expect, it } from "vitest";
import { compareTexts, tableTexts } from "../i18n";
import { drawColumns, toneOf } from "./columns";
import { statusOf, withBaseline } from "./compare";
import type { Column, Rows, Table } from "./model";
import { sortRows } from "./sort";

const text = (key: string): Column => ({ key, label: key, type: "string", unit: null });
const number = (key: string, unit: Column["unit"]): Column => ({
  key,
  label: key,
  type: "number",
  unit,
  help: `help of ${key}`,
});
const COLUMNS = [text("name"), text("shape"), number("calls", "count"), number("self_ns", "ns")];

function table(rows: Rows, columns: Column[] = COLUMNS): Table {
  return { columns: columns.filter(({ key }) => rows[key]), rows };
}

const compare = (experiment: Table, baseline: Table, measures = ["self_ns", "calls"]) =>
  withBaseline(experiment, baseline, {
    keys: ["name", "shape"],
    measures,
    shown: ["self_ns"],
    calls: "calls",
    texts: compareTexts.columns,
  });

describe("withBaseline", () => {
  const joined = compare(
    table({ name: ["mm", "add", "new"], calls: [2, 4, 1], self_ns: [50, 10, 7] }),
    table({ name: ["add", "old", "mm"], calls: [4, 3, 2], self_ns: [10, 30, 100] }),
  );

  it("puts the baseline and the change behind each number, and rows that are gone at the end", () => {
    expect(joined.rows).toMatchObject({
      name: ["mm", "add", "new", "old"],
      status: ["less", "same", "new", "gone"],
      calls: [2, 4, 1, 0],
      base_calls: [2, 4, 0, 3],
      self_ns: [50, 10, 7, 0],
      base_self_ns: [100, 10, 0, 30],
      delta_self_ns: [-50, 0, 7, -30],
      delta_self_percent: [-50, 0, null, -100],
    });
    expect(joined.columns.map(({ key, hidden = false }) => [key, hidden])).toEqual([
      ["name", false],
      ["status", false],
      ["calls", false],
      ["base_calls", true],
      ["delta_calls", true],
      ["delta_calls_percent", true],
      ["self_ns", false],
      ["base_self_ns", false],
      ["delta_self_ns", false],
      ["delta_self_percent", false],
    ]);
  });

  it("has no infinite and no impossible number", () => {
    const numbers = Object.values(joined.rows)
      .flat()
      .filter((cell) => typeof cell === "number");
    expect(numbers.every(Number.isFinite)).toBe(true);
    const none = compare(
      table({ name: ["x"], calls: [0], self_ns: [0] }),
      table({ name: ["x"], calls: [0], self_ns: [0] }),
    );
    expect(none.rows).toMatchObject({
      status: ["same"],
      delta_self_ns: [0],
      delta_self_percent: [null],
    });
  });

  it("sorts by percentage with the new rows last, whatever the direction", () => {
    const order = (descending: boolean) =>
      sortRows([0, 1, 2, 3], joined.rows, [{ key: "delta_self_percent", descending }]).map(
        (row) => joined.rows.name?.[row],
      );
    expect(order(true)).toEqual(["add", "mm", "old", "new"]);
    expect(order(false)).toEqual(["old", "mm", "add", "new"]);
  });

  it("joins by all columns that name a row, and equal ones in order", () => {
    const { rows } = compare(
      table({
        name: ["mm", "mm", "mm"],
        shape: ["a", "b", "b"],
        calls: [1, 1, 1],
        self_ns: [1, 2, 3],
      }),
      table({ name: ["mm", "mm"], shape: ["b", "c"], calls: [1, 1], self_ns: [20, 40] }),
    );
    expect(rows.shape).toEqual(["a", "b", "b", "c"]);
    expect(rows.base_self_ns).toEqual([0, 20, 0, 40]);
    expect(rows.status).toEqual(["new", "less", "new", "gone"]);
  });

  it("does not mistake names that only look alike when joined", () => {
    const { rows } = compare(
      table({ name: ["a,b"], shape: ["c"], calls: [1], self_ns: [1] }),
      table({ name: ["a"], shape: ["b,c"], calls: [1], self_ns: [1] }),
    );
    expect(rows.status).toEqual(["new", "gone"]);
  });

  it("takes a side without device columns as 0", () => {
    const device = number("device_ns", "ns");
    const { columns, rows } = compare(
      table({ name: ["mm"], calls: [1], self_ns: [5] }),
      table({ name: ["mm"], calls: [1], self_ns: [4], device_ns: [9] }, [...COLUMNS, device]),
      ["device_ns", "self_ns"],
    );
    expect(columns.map(({ key }) => key)).toContain("base_device_ns");
    expect(rows).toMatchObject({
      device_ns: [0],
      base_device_ns: [9],
      delta_device_ns: [-9],
      status: ["less"],
    });
  });

  it("draws all sides in one unit, changes with their sign", () => {
    const drawn = drawColumns(
      compare(
        table({ name: ["mm"], calls: [1], self_ns: [4_000_000] }),
        table({ name: ["mm"], calls: [3], self_ns: [4_020_000] }),
      ),
      tableTexts,
    );
    const of = (key: string) => drawn.find(({ column }) => column.key === key);
    for (const key of ["self_ns", "base_self_ns", "delta_self_ns"])
      expect(of(key)?.symbol).toBe(of("self_ns")?.symbol);
    expect(of("delta_calls")?.text(-2)).toBe("−2");
    expect(of("delta_calls")?.title(2)).toBe("+2");
    expect(of("delta_self_percent")?.text(null)).toBe("–");
  });
});

it("calls more time worse, and more calls nothing", () => {
  const cost = { ...number("delta_ns", "ns"), change: "cost" } as const;
  expect([1, -1, 0, null].map((cell) => toneOf(cost, cell).trim())).toEqual([
    "worse",
    "better",
    "",
    "",
  ]);
  expect(toneOf(cost, 1, true)).toBe(" noise");
  expect(toneOf({ ...cost, change: "plain" }, 1, true)).toBe("");
  expect(toneOf({ ...cost, change: "plain" }, 1)).toBe("");
  expect(toneOf(number("ns", "ns"), 1)).toBe("");
});

it("tells what became of a row", () => {
  expect(statusOf(0, 1, 5)).toBe("new");
  expect(statusOf(1, 0, -5)).toBe("gone");
  expect(statusOf(1, 1, 5)).toBe("more");
  expect(statusOf(1, 1, -5)).toBe("less");
  expect(statusOf(1, 2, 0)).toBe("same");
});
