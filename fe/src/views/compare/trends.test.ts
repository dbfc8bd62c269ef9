import { describe, expect, it } from "vitest";
import type { Trends } from "../../api";
import { changeText, lineOf, trendsTable } from "./trends";

const point = (value: number | null, shift: number | null, verdict = "unchanged") => ({
  value,
  shift,
  low: shift === null ? null : shift - 0.01,
  high: shift === null ? null : shift + 0.01,
  q: shift === null ? null : 0.5,
  verdict,
  since: shift,
  since_low: null,
  since_high: null,
  since_verdict: "unknown",
});

const answer = {
  baseline: 0,
  recordings: ["a", "b", "c"].map((name) => ({ name, steps: 9, left_out: 1, differences: [] })),
  trends: [
    {
      metric: "step_time",
      unit: "ns",
      threshold: 0.03,
      points: [
        point(100, null, "unknown"),
        point(null, null, "unknown"),
        point(110, 0.1, "regressed"),
      ],
      last: null,
      change_point: null,
    },
  ],
  traces: [],
  notes: [],
} as unknown as Trends;

describe("the trend", () => {
  it("has a row for each trace, with the change against the baseline in percent", () => {
    const { rows, columns } = trendsTable(answer);
    expect(rows.trace).toEqual(["a", "b", "c"]);
    expect(rows.step_time).toEqual([100, null, 110]);
    expect(rows.step_time_shift).toEqual([null, null, 10]);
    expect(rows.step_time_verdict).toEqual([null, "unknown", "regressed"]);
    expect(rows.step_time_interval?.[2]).toBe("[+9.0 %, +11.0 %]");
    expect(rows.step_time_noise).toEqual([true, true, false]);
    for (const { key } of columns) expect(rows[key]).toHaveLength(3);
  });

  it("has no two columns of one label", () => {
    const [step] = answer.trends;
    const trends = [step, { ...step, metric: "device_busy" }];
    const labels = trendsTable({ ...answer, trends } as Trends).columns.map(({ label }) => label);
    expect(new Set(labels).size).toBe(labels.length);
    expect(labels).toContain("Device busy: 95 % interval");
    expect(labels).toContain("Step time: verdict");
  });

  it("says no interval where there is none", () => {
    expect(changeText({ shift: 0.05, low: null, high: null })).toBe("+5.0 %");
    expect(changeText({ shift: null, low: null, high: null })).toBe("");
  });

  it("draws no line over a trace without a value", () => {
    const { stretches, dots } = lineOf([1, 3, null, 2], 30, 10);
    expect(stretches).toEqual(["0.0,10.0 10.0,0.0", "30.0,5.0"]);
    expect(dots.map(({ at }) => at)).toEqual([0, 1, 3]);
  });
});
