import { describe, expect, it } from "vitest";
import type { Change, ChangedWork } from "../../api";
import {
  changeBars,
  intervalText,
  kindOf,
  namesOf,
  workRows,
  workTable,
  workTitle,
} from "./change";

const column = (key: string): Change["columns"][number] => ({
  key,
  id: "",
  label: key,
  type: "number",
  unit: null,
  help: "",
});
const COLUMNS = ["label", "operator", "delta_ns", "verdict", "before_ns", "exp_ns", "calls"].map(
  column,
);

const cause = (name: string, delta: number, bounds: [number, number] | null = null) => ({
  cause: name,
  before_ns: 100,
  exp_ns: 100 + delta,
  delta_ns: delta,
  low_ns: bounds?.[0] ?? null,
  high_ns: bounds?.[1] ?? null,
});

const work = (more: Partial<ChangedWork>): ChangedWork => ({
  kind: "speed",
  how: "name",
  causes: ["compute.gemm"],
  operator: "aten::mm",
  exp_operator: "aten::mm",
  kernels: ["void gemm<1>(int)"],
  exp_kernels: ["void gemm<1>(int)"],
  label: "gemm<1>",
  exp_label: "gemm<1>",
  names: 1,
  calls: 2,
  exp_calls: 2,
  before_ns: 100,
  exp_ns: 150,
  delta_ns: 50,
  calls_ns: 0,
  speed_ns: 50,
  full_ns: 100,
  exp_full_ns: 150,
  verdict: "slower",
  ...more,
});

describe("the waterfall of the change", () => {
  it("ends at the change of the step, each bar where the one above ended", () => {
    const { rows, low, high } = changeBars([
      cause("idle.input", -60, [-70, -50]),
      cause("compute.gemm", 20, [-5, 30]),
      cause("exposed_copy", -10),
    ]);
    expect(rows.map(({ start, delta }) => [start, delta])).toEqual([
      [0, -60],
      [-60, 20],
      [-40, -10],
    ]);
    expect(rows.map(({ isNoise }) => isNoise)).toEqual([false, true, null]);
    expect([low, high]).toEqual([-60, 0]);
  });

  it("puts small ones together, without losing any time", () => {
    const causes = [
      cause("a", 1000),
      cause("b", 19),
      cause("c", -7),
      ...Array.from({ length: 12 }, (_, i) => cause(`d${i}`, 0)),
    ];
    const { rows } = changeBars(causes);
    expect(rows.map((row) => row.cause)).toEqual(["a", null]);
    expect(rows.at(-1)).toMatchObject({ delta: 12, causes: 14, start: 1000 });
    const many = changeBars(Array.from({ length: 30 }, (_, i) => cause(`e${i}`, 100 - i)));
    expect(many.rows).toHaveLength(10);
    expect(many.rows.reduce((sum, { delta }) => sum + delta, 0)).toBe(2565);
  });

  it("has a span where nothing changed", () => {
    const { rows, low, high } = changeBars([cause("a", 0)]);
    expect(rows.map((row) => row.causes)).toEqual([1]);
    expect(high).toBeGreaterThan(low);
    expect(changeBars([]).rows).toEqual([]);
  });
});

describe("the work that changed", () => {
  it("is called by both names where they differ, and says how many are put together", () => {
    expect(workTitle(work({}))).toBe("gemm<1>");
    expect(workTitle(work({ exp_label: "gemm<2>", kind: "replaced" }))).toBe("gemm<1> → gemm<2>");
    expect(workTitle(work({ label: null, exp_label: "new one" }))).toBe("new one");
    expect(workTitle(work({ names: 3 }))).toBe("gemm<1> and 2 more");
  });

  it("opens to all names of both sides", () => {
    expect(namesOf(work({ exp_kernels: ["a", "b"] }))).toEqual({
      before: ["void gemm<1>(int)"],
      after: ["a", "b"],
    });
    const host = work({ kernels: [], exp_kernels: [], exp_operator: null });
    expect(namesOf(host)).toEqual({ before: ["aten::mm"], after: [] });
  });

  it("is that of a cause where one is chosen", () => {
    const answer = {
      work: [work({}), work({ causes: ["exposed_copy"], label: "copy" })],
    } as unknown as Change;
    expect(workRows(answer, "")).toHaveLength(2);
    expect(workRows(answer, "exposed_copy").map(({ label }) => label)).toEqual(["copy"]);
    expect(workRows(answer, "idle.input")).toEqual([]);
  });

  it("has a change in percent, but for what is new", () => {
    const { columns, rows } = workTable(COLUMNS, [
      work({}),
      work({ before_ns: 0, kind: "new", label: null, kernels: [], operator: null }),
    ]);
    expect(rows.delta_percent).toEqual([50, null]);
    expect(rows.operator).toEqual(["aten::mm", "aten::mm"]);
    expect(new Set([...columns.map(({ key }) => key), "noise"])).toEqual(
      new Set(Object.keys(rows)),
    );
    const [, unsure] =
      workTable(COLUMNS, [work({}), work({ verdict: "unclear" })]).rows.noise ?? [];
    expect(unsure).toBe(true);
    expect(columns.find(({ key }) => key === "verdict")?.words?.slower).toBe("slower");
  });
});

it("says of work that takes as long as before that it is unchanged", () => {
  expect([kindOf("calls", 0), kindOf("speed", 0)]).toEqual(["same", "same"]);
  expect([kindOf("calls", -1), kindOf("speed", 1), kindOf("new", 0)]).toEqual([
    "fewerCalls",
    "slower",
    "new",
  ]);
});

it("says an interval as people do", () => {
  expect(intervalText(-0.524, -0.278)).toBe("a typical step takes 27.8 to 52.4 % less");
  expect(intervalText(0.049, 0.074)).toBe("a typical step takes 4.9 to 7.4 % more");
  expect(intervalText(-0.012, 0.034)).toBe("a typical step takes 1.2 % less to 3.4 % more");
  expect(intervalText(0.05, 0.0501)).toBe("a typical step takes 5.0 % more");
});
