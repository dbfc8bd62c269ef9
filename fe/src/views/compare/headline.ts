/** How much faster or slower the average step is, and what that is made of. Pure. */
import type { Nanoseconds, Overview } from "../../api";
import { percentChange } from "../../format";

export interface stringChange {
  readonly category: string;
  readonly before: Nanoseconds;
  readonly after: Nanoseconds;
  readonly delta: Nanoseconds;
}

export interface StepChange {
  readonly before: Nanoseconds;
  readonly after: Nanoseconds;
  readonly delta: Nanoseconds;
  /** Null when the baseline's step takes no time. */
  readonly percent: number | null;
  /** All categories of either side, in order of their priority; their changes add up to that of the step. */
  readonly categories: readonly stringChange[];
  /** Those that changed the step most, the largest first. */
  readonly contributors: readonly stringChange[];
  /** Those that did the contrary, and are worth knowing. */
  readonly against: readonly stringChange[];
}

/** Contributors are named until they explain most of the change. */
const MOST = 3;
/** Of the step's change, or where it hardly changed of the step: less is not worth a word. */
const WORTH = 0.05;
const WORTH_OF_STEP = 0.01;

/** Null unless both traces have steps. */
export function stepChange(baseline: Overview, experiment: Overview): StepChange | null {
  if (baseline.steps.names.length === 0 || experiment.steps.names.length === 0) return null;
  const before = baseline.average.step_ns;
  const after = experiment.average.step_ns;
  const delta = after - before;
  const categories = inOrder(baseline, experiment).map((category) => {
    const of = (overview: Overview) => overview.average.category_ns[category] ?? 0;
    const change = of(experiment) - of(baseline);
    return { category, before: of(baseline), after: of(experiment), delta: change };
  });
  const least = Math.max(Math.abs(delta) * WORTH, Math.max(before, after) * WORTH_OF_STEP);
  const large = categories
    .filter((change) => Math.abs(change.delta) >= least)
    .sort((a, b) => Math.abs(b.delta) - Math.abs(a.delta));
  return {
    before,
    after,
    delta,
    percent: percentChange(before, after),
    categories,
    contributors: large.filter((change) => change.delta * delta > 0).slice(0, MOST),
    against: large.filter((change) => change.delta * delta < 0).slice(0, MOST),
  };
}

function inOrder(baseline: Overview, experiment: Overview): string[] {
  const order = ORDER.filter((category) =>
    [baseline, experiment].some(({ steps }) => steps.categories.includes(category)),
  );
  return order;
}

/** As the server gives a moment to one of them. */
const ORDER: readonly string[] = [
  "kernel",
  "memcpy",
  "memset",
  "communication",
  "runtime",
  "dataloader",
  "cpu_exec",
  "other",
];

/** The names of the devices of a trace, each once. */
export function deviceNames({ devices }: Overview, unnamed: string): string {
  return [...new Set(devices.map(({ name }) => name || unnamed))].sort().join(", ");
}
