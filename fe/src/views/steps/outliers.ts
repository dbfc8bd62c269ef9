/** Which steps are slow, and which category makes the difference. Pure; the definition is in docs/views/steps.md. */
import type { Nanoseconds, Steps } from "../../api";
import { median, medianDeviation } from "../../format";

/** Below this there is no usual step to differ from. */
export const FEWEST_STEPS = 3;
/** Median absolute deviations; × 1.4826 makes them standard deviations where times are normally distributed. */
export const DEVIATIONS = 3;
const NORMAL = 1.4826;
/** Less does not matter, however steady the others are. */
export const LEAST_SHARE = 0.05;

export interface Difference {
  readonly category: string;
  /** Of the step − median over the steps. */
  readonly ns: Nanoseconds;
}

export interface Usual {
  /** Medians over the steps; those of the categories need not add up to that of the duration. */
  readonly duration_ns: Nanoseconds;
  readonly category_ns: Readonly<Record<string, Nanoseconds>>;
  /** Longer steps are outliers; null with too few steps. */
  readonly limit_ns: Nanoseconds | null;
}

/** Null without steps. */
export function usualStep(steps: Steps): Usual | null {
  const middle = median(steps.duration_ns);
  const deviation = medianDeviation(steps.duration_ns);
  if (middle === null || deviation === null) return null;
  return {
    duration_ns: middle,
    category_ns: Object.fromEntries(
      steps.categories.map((category) => [
        category,
        median(steps.category_ns[category] ?? []) ?? 0,
      ]),
    ),
    limit_ns:
      steps.names.length < FEWEST_STEPS
        ? null
        : middle + Math.max(DEVIATIONS * NORMAL * deviation, LEAST_SHARE * middle),
  };
}

/** For each step whether it is an outlier. */
export function outliers(steps: Steps, usual: Usual | null): boolean[] {
  const limit = usual?.limit_ns ?? null;
  return steps.duration_ns.map((duration) => limit !== null && duration > limit);
}

/** How each category of a step differs from the usual, the largest excess first. */
export function differences(steps: Steps, usual: Usual, step: number): Difference[] {
  return steps.categories
    .map((category) => ({
      category,
      ns: (steps.category_ns[category]?.[step] ?? 0) - (usual.category_ns[category] ?? 0),
    }))
    .sort((a, b) => b.ns - a.ns);
}

/** What makes a step longer than usual; null when nothing does. */
export function cause(steps: Steps, usual: Usual, step: number): Difference | null {
  const largest = differences(steps, usual, step)[0];
  return largest && largest.ns > 0 ? largest : null;
}

/** The step whose duration is nearest to a time, the first of several; null without steps or a time. */
export function nearestStep(
  durations: readonly Nanoseconds[],
  time: Nanoseconds | null,
): number | null {
  if (time === null || durations.length === 0) return null;
  const away = durations.map((duration) => Math.abs(duration - time));
  return away.indexOf(away.reduce((least, each) => Math.min(least, each)));
}

export interface Lost {
  readonly steps: number;
  /** What the outliers took longer than the median step, together. */
  readonly ns: Nanoseconds;
  /** Of the time of all steps. */
  readonly share: number;
}

export function lostTime(steps: Steps, usual: Usual | null, slow: readonly boolean[]): Lost {
  const all = steps.duration_ns.reduce((sum, duration) => sum + duration, 0);
  const ns = steps.duration_ns.reduce(
    (sum, duration, step) => (slow[step] ? sum + duration - (usual?.duration_ns ?? 0) : sum),
    0,
  );
  return { steps: slow.filter(Boolean).length, ns, share: all > 0 ? ns / all : 0 };
}
