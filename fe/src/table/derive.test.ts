import { describe, expect, it } from "vitest";
import { twoLines } from "./columns";
import { derive, perCall, shareOf } from "./derive";
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
  const mean = perCall("self_ns", { key: "mean_ns", label: "Mean", help: "" });

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

describe("twoLines", () => {
  it.each([
    ["Calls", 5],
    ["Device self ms", 7],
    ["Mean est. achieved occupancy %", 18],
    // A Chinese line may end between any two characters, but leaves no mere rest; they are wide.
    ["设备总耗时 ms", 6.5],
    ["内核（Kernel） ms", 13],
    ["计算能力", 7],
  ])("%s needs %d characters", (text, width) => expect(twoLines(text)).toBe(width));
});
