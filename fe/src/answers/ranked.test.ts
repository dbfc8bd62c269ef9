import { expect, it } from "vitest";
import { ranked } from "./ranked";

const column = (key: string) => ({ key, label: key, type: "number", unit: "ns" }) as const;
const table = {
  columns: [column("name"), column("self_ns")],
  rows: { name: ["a", "b"], self_ns: [100, 300] },
};

it("gives each row its value, and what that was in a baseline", () => {
  expect(ranked(table, "self_ns", undefined)).toEqual([
    { label: "a", value: 100 },
    { label: "b", value: 300 },
  ]);
  const baseline = { ...table, rows: { ...table.rows, name: ["b", "c"] } };
  expect(ranked(table, "self_ns", undefined, baseline)).toEqual([
    { label: "a", value: 100, before: 0 },
    { label: "b", value: 300, before: 100 },
  ]);
});

it("gives rows their colours, and short names where there are some", () => {
  const short = { ...table, rows: { ...table.rows, short_name: ["x", "y"] } };
  expect(ranked(short, "self_ns", (_, row) => `var(--series-${row + 1})`)).toEqual([
    { label: "x", title: "a", value: 100, color: "var(--series-1)" },
    { label: "y", title: "b", value: 300, color: "var(--series-2)" },
  ]);
});
