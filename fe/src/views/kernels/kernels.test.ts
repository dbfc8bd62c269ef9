import { describe, expect, it } from "vitest";
import type { Table } from "../../table";
import { byOperator, rowsOf } from "./columns";
import { copiesTable } from "./copies";
import { tensorTime } from "./tensor";

describe("tensorTime", () => {
  it("adds up to the time of compute kernels", () => {
    const meta = { compute_ns: 16, tensor_cores: { yes: 0.5, no: 0.125, unknown: 0.375 } };
    expect(tensorTime(meta)).toEqual({ using: 8, notUsing: 2, unknown: 6 });
  });

  it("is nothing without kernels", () => {
    const meta = { compute_ns: 0, tensor_cores: { yes: null, no: null, unknown: null } };
    expect(tensorTime(meta)).toEqual({ using: 0, notUsing: 0, unknown: 0 });
  });
});

it("orders copies and gives their bandwidth", () => {
  const { rows } = copiesTable([
    { name: "Memcpy HtoD", calls: 2, total_ns: 100, bytes: 1200 },
    { name: "Memcpy DtoH", calls: 1, total_ns: 500, bytes: null },
    { name: "Memset", calls: 1, total_ns: 0, bytes: 5 },
  ]);
  expect(rows.name).toEqual(["Memcpy DtoH", "Memcpy HtoD", "Memset"]);
  expect(rows.bandwidth).toEqual([null, 12, null]);
});

it("leaves sizes out where none is known, as of waits", () => {
  const { columns } = copiesTable([
    { name: "Stream Sync", calls: 1, total_ns: 500, bytes: null },
    { name: "event_wait", calls: 1, total_ns: 100, bytes: null },
  ]);
  expect(columns.map(({ key }) => key)).toEqual(["name", "calls", "total_ns"]);
});

it("picks the rows of one kernel", () => {
  const table: Table = {
    columns: [
      { key: "name", label: "Name", type: "string", unit: null },
      { key: "kind", label: "Kind", type: "string", unit: null },
      { key: "library", label: "Library", type: "string", unit: null },
      { key: "operator", label: "Operator", type: "string", unit: null },
    ],
    rows: {
      name: ["a", "b", "a"],
      kind: ["gemm", null, "gemm"],
      library: ["cuBLAS", null, "cuBLAS"],
      operator: ["x", "y", null],
    },
  };
  const picked = rowsOf(table, "a");
  expect(picked.columns.map(({ key }) => key)).toEqual(["operator"]);
  expect(picked.rows.operator).toEqual(["x", null]);
});

it("sums the launches of each operator", () => {
  const { columns, rows } = byOperator({
    columns: [
      { key: "operator", label: "Operator", type: "string", unit: null },
      { key: "grid", label: "Grid", type: "string", unit: null },
      { key: "calls", label: "Calls", type: "number", unit: "count" },
      { key: "total_ns", label: "Total", type: "number", unit: "ns" },
    ],
    rows: {
      operator: ["x", null, "y", "x"],
      grid: ["[1]", "[1]", "[1]", "[2]"],
      calls: [1, 2, 3, 4],
      total_ns: [5, 1, 20, 6],
    },
  });
  expect(columns.map(({ key }) => key)).toEqual(["operator", "calls", "total_ns"]);
  expect(rows).toEqual({ operator: ["y", "x", null], calls: [3, 5, 2], total_ns: [20, 11, 1] });
});
