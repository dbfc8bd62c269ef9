import { expect, it } from "vitest";
import type { Device, Overview } from "../../api";
import { categoryRows, meanSmEfficiency, stepStats } from "./numbers";

const OVERVIEW = {
  steps: {
    rule: "profiler_step",
    names: ["5", "6"],
    start_ns: [0, 100],
    duration_ns: [100, 200],
    categories: ["kernel", "other"],
    category_ns: { kernel: [60, 60], other: [40, 140] },
  },
  average: { step_ns: 150, category_ns: { kernel: 60, other: 90 } },
} as unknown as Overview;

it("sums up the steps", () => {
  expect(stepStats(OVERVIEW)).toEqual({ count: 2, mean: 150, p50: 150, p95: 195, max: 200 });
});

it("gives each category its share of the average step", () => {
  expect(categoryRows(OVERVIEW)).toEqual([
    { category: "kernel", ns: 60, share: 0.4 },
    { category: "other", ns: 90, share: 0.6 },
  ]);
  const none = { ...OVERVIEW, average: { step_ns: 0, category_ns: {} } };
  expect(categoryRows(none)[0]?.share).toBeNull();
});

it("averages a metric over the devices that have it", () => {
  const device = (sm_efficiency: number | null) => ({ sm_efficiency }) as Device;
  expect(meanSmEfficiency([device(0.2), device(null), device(0.4)])).toBeCloseTo(0.3);
  expect(meanSmEfficiency([device(null)])).toBeNull();
});
