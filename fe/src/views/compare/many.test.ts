import { describe, expect, it } from "vitest";
import type { Column, TracesTable } from "../../api";
import { titleOf } from "./many";

const column = (key: string, type: Column["type"] = "number"): Column => ({
  key,
  label: key,
  type,
  unit: null,
  help: "",
  id: "",
});

const TRACES: TracesTable = {
  meta: { of: "all", notes: [], total: 2, matched: 2, offset: 0 },
  columns: [column("trace", "string"), column("run", "string"), column("step")],
  rows: {
    trace: ["a · 0", "b · 0"],
    run: ["a", "b"],
    worker: ["0", "0"],
    span: ["1", "1"],
    step: [1, null],
  },
};

describe("the tables of many traces", () => {
  it("finds the row of the trace shown", () => {
    expect(titleOf(TRACES, { run: "b", worker: "0", span: "1" })).toBe("b · 0");
    expect(titleOf(TRACES, { run: "b", worker: "0", span: "2" })).toBeNull();
  });
});
