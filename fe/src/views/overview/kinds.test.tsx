import { cleanup, render, screen } from "@testing-library/react";
import { afterEach, expect, it } from "vitest";
import type { Overview } from "../../api";
import { stepKindName } from "../../i18n";
import { Kinds } from "./Kinds";

afterEach(cleanup);

type StepKind = Overview["steps"]["kinds"][number];

const KIND: StepKind = {
  id: "training",
  label: null,
  number: null,
  title: "training",
  count: 2,
  steps: ["3", "5"],
  from_step: null,
  to_step: null,
  mean_ns: 2_000_000,
  median_ns: 2_000_000,
  category_ns: { kernel: 1_500_000, other: 500_000 },
  waterfall: [],
};

const VALIDATION: StepKind = {
  ...KIND,
  id: "without_backward",
  count: 1,
  steps: ["4"],
  from_step: "4",
  to_step: "4",
  mean_ns: 500_000,
  category_ns: { kernel: 500_000, other: 0 },
};

function stepsOf(kinds: StepKind[], kind: number[]): Overview["steps"] {
  return {
    rule: "profiler_step",
    rules: [],
    labels: [],
    names: ["3", "4", "5"],
    kinds,
    kind,
    start_ns: [0, 2_000_000, 2_500_000],
    duration_ns: [2_000_000, 500_000, 2_000_000],
    categories: ["kernel", "memcpy", "other"],
    category_ns: {},
    columns: [],
    use: null,
  };
}

const shown = (kinds: StepKind[]) =>
  render(<Kinds overview={{ steps: stepsOf(kinds, []) } as unknown as Overview} />);

it("says that means are over several kinds, and what each takes", () => {
  shown([KIND, VALIDATION]);
  expect(screen.getByRole("note").textContent).toContain("over 2 kinds of steps");
  const rows = screen.getAllByRole("row").map((row) => row.textContent);
  expect(rows[0]).not.toContain("Memcpy");
  expect(rows[1]).toContain("training");
  expect(rows[1]).toContain("75");
  expect(rows[2]).toContain("without backward pass");
});

it("says nothing where all steps are of one kind", () => {
  expect(shown([]).container.textContent).toBe("");
});

it("names kinds by what is known of them", () => {
  expect(stepKindName({ ...KIND, number: 2 })).toBe("training 2");
  expect(stepKindName({ ...KIND, id: "other", label: "eval" })).toBe("eval");
  expect(stepKindName({ ...KIND, label: "loop" })).toBe("loop (training)");
});
