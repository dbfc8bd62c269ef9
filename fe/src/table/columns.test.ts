import { expect, it } from "vitest";
import { drawColumns } from "./columns";
import type { Column, Table } from "./model";

const BOOLS = { yes: "yes", no: "no", unknown: "?" };

function times(values: Record<string, number>): Table {
  const columns = Object.keys(values).map(
    (key): Column => ({ key, label: key, type: "number", unit: "ns" }),
  );
  return { columns, rows: Object.fromEntries(columns.map(({ key }) => [key, [values[key]]])) };
}

it("shows times that are compared in one unit", () => {
  const drawn = drawColumns(
    times({
      device_self_ns: 2e3,
      device_total_ns: 3e6,
      host_self_ns: 4e3,
      host_total_ns: 5e3,
      total_ns: 6e9,
      mean_ns: 7e3,
      max_ns: 8e6,
      min_ns: 900,
    }),
    BOOLS,
  );
  expect(drawn.map(({ column, symbol }) => `${column.key} ${symbol}`)).toEqual([
    "device_self_ns µs",
    "device_total_ns µs",
    "host_self_ns µs",
    "host_total_ns µs",
    "total_ns s",
    "mean_ns µs",
    "max_ns µs",
    "min_ns µs",
  ]);
  const smallest = drawn[drawn.length - 1];
  expect(smallest?.text(1_900)).toBe("1.90");
  expect(smallest?.text(900)).toBe("0.900");
  expect(smallest?.title(900)).toBe("900 ns");
});

it("keeps large values short", () => {
  const symbols = (max: number, min: number) =>
    drawColumns(times({ max_ns: max, min_ns: min }), BOOLS).map(({ symbol }) => symbol);
  expect(symbols(99e6, 900)).toEqual(["µs", "µs"]);
  expect(symbols(100e6, 900)).toEqual(["ms", "ms"]);
  expect(symbols(5e9, 3e6)).toEqual(["ms", "ms"]);
  expect(symbols(5e6, 0)).toEqual(["ms", "ms"]);
});

it("does not mix bytes with time", () => {
  const table: Table = {
    columns: [
      { key: "self_size", label: "Self", type: "number", unit: "bytes" },
      { key: "total_size", label: "Total", type: "number", unit: "bytes" },
      { key: "max_ns", label: "Max", type: "number", unit: "ns" },
    ],
    rows: { self_size: [12], total_size: [2 ** 21], max_ns: [5e3] },
  };
  expect(drawColumns(table, BOOLS).map(({ symbol }) => symbol)).toEqual(["KiB", "KiB", "µs"]);
});

it("keeps the digits of moments, and a unit for each size", () => {
  const [moment, size] = drawColumns(
    {
      columns: [
        { key: "at_ns", label: "At", type: "number", unit: "ns", atMost: 1e6 },
        { key: "bytes", label: "Size", type: "number", unit: "bytes", ownUnits: true },
      ],
      rows: { at_ns: [1_616_339_000, 5000], bytes: [512, 3 * 1024 ** 3] },
    },
    { yes: "Yes", no: "No", unknown: "–" },
  );
  expect(moment?.symbol).toBe("ms");
  expect(moment?.text(1_616_339_000)).toBe("1,616.339");
  expect(size?.symbol).toBeNull();
  expect([512, 3 * 1024 ** 3, null].map((value) => size?.text(value))).toEqual([
    "512 B",
    "3 GiB",
    "–",
  ]);
  expect(size?.title(2048)).toBe("2,048 bytes");
});

it("makes a column as wide as its longest number", () => {
  const shown = drawColumns(
    {
      columns: [
        { key: "a_ns", label: "a", type: "number", unit: "ns" },
        { key: "b_ns", label: "b", type: "number", unit: "ns", family: "f" },
        { key: "c_ns", label: "c", type: "number", unit: "ns", family: "f" },
      ],
      rows: { a_ns: [1], b_ns: [24_610_368_000], c_ns: [39_080_000] },
    },
    BOOLS,
  )[1];
  expect(shown?.text(24_610_368_000)).toBe("24,610.368");
  expect(shown?.width).toBeGreaterThan(7 * "24,610.368".length + 16);
});

it("has room for numbers of every size that is there, each with its own unit", () => {
  const delta_ns = [-3_110_000, 3_012_000, 46_000, -8_774, 5_700, -6];
  const table: Table = {
    columns: [{ key: "delta_ns", label: "Δ", type: "number", unit: "ns", change: "cost" }],
    rows: { delta_ns },
  };
  const [drawn] = drawColumns(table, BOOLS);
  const longest = Math.max(...delta_ns.map((cell) => drawn?.text(cell).length ?? 0));
  expect(drawn?.width).toBeGreaterThanOrEqual(7.4 * longest + 24);
});

it("has no word for what every object has", () => {
  const column: Column = {
    key: "kind",
    label: "Kind",
    type: "string",
    unit: null,
    words: { a: "A" },
  };
  const cells = ["a", "constructor", "__proto__", "toString", "trailing "];
  const [drawn] = drawColumns({ columns: [column], rows: { kind: cells } }, BOOLS);
  expect(cells.map((cell) => drawn?.text(cell))).toEqual([
    "A",
    "constructor",
    "__proto__",
    "toString",
    "trailing␣",
  ]);
});
