import { describe, expect, it } from "vitest";
import { twoLines } from "./columns";
import { averageKey, declared, derive, perCall, shareKey, shareOf } from "./derive";
import type { Table } from "./model";

const table: Table = {
  columns: [
    { key: "name", label: "Name", type: "string", unit: null },
    { key: "calls", label: "Calls", type: "number", unit: "count" },
    { key: "self_ns", label: "Self", type: "number", unit: "ns" },
  ],
  rows: { name: ["a", "b"], calls: [4, 0], self_ns: [100, null] },
};

describe("derive", () => {
  const share = shareOf("self_ns", 400, { key: "share", label: "%", help: "" });
  const mean = perCall({ key: "self_ns", unit: "ns" }, { key: "mean_ns", label: "Mean", help: "" });

  it("puts the columns behind their source", () => {
    const result = derive(table, [mean, share]);
    expect(result.columns.map(({ key }) => key)).toEqual([
      "name",
      "calls",
      "self_ns",
      "share",
      "mean_ns",
    ]);
    expect(result.rows.share).toEqual([25, null]);
    expect(result.rows.mean_ns).toEqual([25, null]);
  });

  it("has no share of nothing", () => {
    const of = (total: number | null) =>
      derive(table, [shareOf("self_ns", total, { key: "share", label: "%", help: "" })]).rows.share;
    expect(of(0)).toEqual([null, null]);
    expect(of(null)).toEqual([null, null]);
  });

  it("skips derivations of columns that the trace does not have", () => {
    expect(
      derive(table, [shareOf("gone", 1, { key: "x", label: "x", help: "" })]).columns,
    ).toHaveLength(3);
  });
});

describe("declared", () => {
  const declaring: Table = {
    ...table,
    columns: table.columns.map((column) =>
      column.key === "self_ns" ? { ...column, total: 400, average: true } : column,
    ),
  };

  it("adds a share that is shown and an average that is not", () => {
    const { columns, rows } = derive(declaring, declared(declaring));
    expect(columns.map(({ key, hidden }) => [key, hidden ?? false])).toEqual([
      ["name", false],
      ["calls", false],
      ["self_ns", false],
      ["self_share", false],
      ["self_per_call_ns", true],
    ]);
    expect(columns.slice(3).map(({ label, unit }) => [label, unit])).toEqual([
      ["% self", "percent"],
      ["Self per call", "ns"],
    ]);
    expect(rows.self_share).toEqual([25, null]);
    expect(rows.self_per_call_ns).toEqual([25, null]);
  });

  it("lets a view say it in its own words", () => {
    const texts = { self_share: { label: "Part", hidden: true } };
    const column = derive(declaring, declared(declaring, texts)).columns[3];
    expect(column).toMatchObject({ label: "Part", hidden: true, bar: true });
  });

  it("has no averages without calls, and nothing where nothing is declared", () => {
    expect(declared(table)).toEqual([]);
    const { columns } = declaring;
    const without = columns.filter(({ key }) => key !== "calls");
    expect(declared({ columns: without }).map(({ column }) => column.key)).toEqual(["self_share"]);
  });

  it("keeps the unit at the end of a key", () => {
    expect(averageKey("size_bytes")).toBe("size_per_call_bytes");
    expect(averageKey("size")).toBe("size_per_call");
    expect(shareKey("device_self_ns")).toBe("device_self_share");
  });
});

describe("twoLines", () => {
  it.each([
    // Capitals are wider.
    ["Calls", 5.2],
    ["Device self ms", 7],
    ["Mean est. achieved occupancy %", 18.2],
    // A Chinese line may end between any two characters, but leaves no mere rest; they are wide.
    ["设备总耗时 ms", 6.5],
    ["内核（Kernel） ms", 13.2],
    ["计算能力", 7],
  ])("%s needs %f characters", (text, width) => expect(twoLines(text)).toBeCloseTo(width));
});
