import { render, screen } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import type { Steps } from "../../api";
import { stepTable } from "./columns";
import { Outliers } from "./OutlierPanel";
import { cause, differences, lostTime, nearestStep, outliers, usualStep } from "./outliers";

function stepsOf(kernel: number[], loader: number[], more: Partial<Steps> = {}): Steps {
  return {
    rule: "profiler_step",
    rules: [],
    kinds: [],
    kind: [],
    use: null,
    names: kernel.map((_, i) => String(i + 3)),
    labels: kernel.map((_, i) => `ProfilerStep#${i + 3}`),
    start_ns: kernel.map((_, i) => i * 1000),
    duration_ns: kernel.map((ns, i) => ns + (loader[i] ?? 0)),
    categories: ["kernel", "dataloader"],
    category_ns: { kernel, dataloader: loader },
    columns: ["names", "labels", "start_ns", "duration_ns"].map((key) => ({
      key,
      id: "",
      label: key,
      type: "number",
      unit: null,
      help: "",
    })),
    ...more,
  };
}

const USE = {
  busy_ns: [50, 25],
  computing_ns: [40, 20],
  communicating_ns: null,
  exposed_communication_ns: [0, 0],
};

function slow(steps: Steps): string[] {
  const found = outliers(steps, usualStep(steps));
  return steps.names.filter((_, i) => found[i]);
}

const fill = (n: number, value: number) => Array.from({ length: n }, () => value);

it("finds the step nearest to a time, the first of several", () => {
  expect(nearestStep([10, 30, 21, 19], 20)).toBe(2);
  expect(nearestStep([10, 30], 29.5)).toBe(1);
  expect(nearestStep([], 20)).toBeNull();
  expect(nearestStep([10], null)).toBeNull();
});

describe("outliers", () => {
  it("finds the step that is longer than the steady others", () => {
    const steps = stepsOf(fill(6, 100), [0, 0, 0, 60, 0, 0]);
    expect(usualStep(steps)?.limit_ns).toBe(105);
    expect(slow(steps)).toEqual(["6"]);
  });

  it("does not care about less than 5 %, however steady the others are", () => {
    expect(slow(stepsOf([100, 100, 100, 105], fill(4, 0)))).toEqual([]);
    expect(slow(stepsOf([100, 100, 100, 106], fill(4, 0)))).toEqual(["6"]);
  });

  it("allows for how much the steps scatter", () => {
    // Median 100, median distance 10: up to 100 + 3 × 14.826.
    const scattered = [80, 90, 100, 110, 120];
    expect(slow(stepsOf([...scattered, 100, 144], fill(7, 0)))).toEqual([]);
    expect(slow(stepsOf([...scattered, 100, 145], fill(7, 0)))).toEqual(["9"]);
  });

  it("is not misled by the outliers themselves", () => {
    expect(slow(stepsOf([100, 100, 100, 900, 900], fill(5, 0)))).toEqual(["6", "7"]);
  });

  it("never flags a short step, nor any of two", () => {
    expect(slow(stepsOf([100, 100, 100, 10], fill(4, 0)))).toEqual([]);
    expect(slow(stepsOf([100, 900], fill(2, 0)))).toEqual([]);
    expect(usualStep(stepsOf([100, 900], fill(2, 0)))?.limit_ns).toBeNull();
    expect(usualStep(stepsOf([], []))).toBeNull();
  });

  it("flags few of many normally scattered steps", () => {
    let seed = 1;
    const random = () => {
      seed = (seed * 16807) % 2147483647;
      return seed / 2147483647;
    };
    const normal = () => Math.sqrt(-2 * Math.log(random())) * Math.cos(2 * Math.PI * random());
    const times = Array.from({ length: 10_000 }, () => 1e6 + 1e5 * normal());
    // Three standard deviations to one side: 0.135 %.
    expect(slow(stepsOf(times, fill(10_000, 0))).length).toBeLessThan(30);
  });
});

describe("what makes the difference", () => {
  const steps = stepsOf([100, 100, 110, 100], [10, 10, 70, 10]);
  const usual = usualStep(steps);
  if (!usual) throw new Error("there are steps");

  it("is the category that exceeds its own median the most", () => {
    expect(cause(steps, usual, 2)).toEqual({ category: "dataloader", ns: 60 });
    expect(differences(steps, usual, 2).map(({ category }) => category)).toEqual([
      "dataloader",
      "kernel",
    ]);
    expect(cause(steps, usual, 0)).toBeNull();
  });

  it("sums up what the outliers cost", () => {
    const found = outliers(steps, usual);
    // 180 instead of 110, of 510 in all.
    expect(lostTime(steps, usual, found)).toEqual({ steps: 1, ns: 70, share: 70 / 510 });
  });

  it("stands in the table, next to every category in time and percent", () => {
    const found = outliers(steps, usual);
    const remark = (step: number) => `because ${step}`;
    const table = stepTable(steps, [1, 2], { usual, slow: found, remark });
    expect(table.rows.name).toEqual(["4", "5"]);
    expect(table.rows.outlier).toEqual([null, "because 2"]);
    expect(table.rows.delta_ns).toEqual([0, 70]);
    expect(table.rows.kernel).toEqual([100, 110]);
    expect(table.rows.dataloader_percent).toEqual([(10 / 110) * 100, (70 / 180) * 100]);
    expect(table.rows.busy_percent).toBeUndefined();
  });
});

it("shows times or percentages first, annotations where they say more, what devices did where it is known", () => {
  const plain = stepsOf([100, 100], [0, 0]);
  const usual = usualStep(plain);
  if (!usual) throw new Error("there are steps");
  const hidden = (steps: Steps, mode: "absolute" | "percent") =>
    stepTable(steps, [0, 1], { usual, mode })
      .columns.filter((column) => column.hidden)
      .map(({ key }) => key);
  expect(hidden(plain, "absolute")).toEqual([
    "label",
    "outlier",
    "kernel_percent",
    "dataloader_percent",
  ]);
  expect(hidden(plain, "percent")).toEqual(["label", "outlier", "kernel", "dataloader"]);
  const named = { ...plain, labels: ["decode", "decode"], use: USE };
  expect(hidden(named, "percent")).not.toContain("label");
  expect(stepTable(named, [0, 1], { usual }).rows).toMatchObject({
    busy_percent: [50, 25],
    computing_percent: [40, 20],
  });
  expect(hidden(named, "percent")).toEqual([
    "outlier",
    "kernel",
    "dataloader",
    "exposed_communication_percent",
  ]);
});

it("does not call steps even because none is an outlier", () => {
  const steps = stepsOf(
    [8, 25, 17, 49, 33].map((ms) => ms * 1e6),
    fill(5, 0),
  );
  const usual = usualStep(steps);
  if (usual === null) throw new Error("no steps");
  expect(slow(steps)).toEqual([]);
  render(<Outliers steps={steps} usual={usual} slow={outliers(steps, usual)} onPick={() => {}} />);
  expect(screen.getByText(/^No outlier: the steps take 8 ms to 49 ms, and one of/)).toBeTruthy();
});

it("has a column for the kinds of steps where there are several", () => {
  const training = {
    id: "training" as const,
    label: null,
    number: null,
    title: "training",
    count: 1,
    steps: ["3"],
    from_step: "3",
    to_step: "3",
    mean_ns: 20,
    median_ns: 20,
    category_ns: {},
    waterfall: [],
  };
  const validation = { ...training, id: "without_backward" as const, steps: ["4"] };
  const kindsOf = (steps: Steps) => {
    const usual = usualStep(steps);
    if (usual === null) throw new Error("no steps");
    return stepTable(steps, [0, 1], { usual }).rows.kind;
  };
  expect(
    kindsOf(stepsOf([10, 2], [10, 1], { kinds: [training, validation], kind: [0, 1] })),
  ).toEqual(["training", "without backward pass"]);
  expect(kindsOf(stepsOf([10, 2], [10, 1]))).toBeUndefined();
});
