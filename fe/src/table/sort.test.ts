import { describe, expect, it } from "vitest";
import type { Column } from "./model";
import { formatSorts, parseSorts, sortRows, toggleSort } from "./sort";

const name: Column = { key: "name", label: "Name", type: "string", unit: null };
const calls: Column = { key: "calls", label: "Calls", type: "number", unit: "count" };
const rows = {
  name: ["b", "a", "a10", "a2", null],
  calls: [1, 3, null, 3, Number.NaN],
};
const all = [0, 1, 2, 3, 4];

describe("sortRows", () => {
  it("puts missing values last in both directions", () => {
    expect(sortRows(all, rows, [{ key: "calls", descending: true }])).toEqual([1, 3, 0, 2, 4]);
    expect(sortRows(all, rows, [{ key: "calls", descending: false }])).toEqual([0, 1, 3, 2, 4]);
    expect(sortRows(all, rows, [{ key: "name", descending: true }]).at(-1)).toBe(4);
  });

  it("orders numbers inside names by value", () => {
    expect(sortRows(all, rows, [{ key: "name", descending: false }])).toEqual([1, 3, 2, 0, 4]);
  });

  it("breaks ties by the next column", () => {
    const sorts = [
      { key: "calls", descending: true },
      { key: "name", descending: true },
    ];
    expect(sortRows(all, rows, sorts)).toEqual([3, 1, 0, 2, 4]);
  });

  it("leaves its input alone and ignores unknown columns", () => {
    const order = [2, 1];
    expect(sortRows(order, rows, [{ key: "gone", descending: true }])).toEqual([2, 1]);
    sortRows(order, rows, [{ key: "calls", descending: true }]);
    expect(order).toEqual([2, 1]);
  });
});

describe("toggleSort", () => {
  it("goes through largest first, smallest first, none", () => {
    const once = toggleSort([], calls, false);
    const twice = toggleSort(once, calls, false);
    expect(once).toEqual([{ key: "calls", descending: true }]);
    expect(twice).toEqual([{ key: "calls", descending: false }]);
    expect(toggleSort(twice, calls, false)).toEqual([]);
    expect(toggleSort([], name, false)).toEqual([{ key: "name", descending: false }]);
  });

  it("adds with shift and replaces without", () => {
    const both = toggleSort(toggleSort([], calls, true), name, true);
    expect(formatSorts(both)).toBe("-calls,name");
    expect(formatSorts(toggleSort(both, calls, true))).toBe("calls,name");
    expect(formatSorts(toggleSort(both, name, false))).toBe("-name");
  });
});

it("reads what it writes and drops what the table does not have", () => {
  expect(parseSorts("-calls,name", [name, calls])).toEqual([
    { key: "calls", descending: true },
    { key: "name", descending: false },
  ]);
  expect(parseSorts("-gone,,name", [name])).toEqual([{ key: "name", descending: false }]);
});
