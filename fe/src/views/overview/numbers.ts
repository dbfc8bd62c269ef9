/** From the overview's answer to what the panels show. Pure. */
import type { Device, Fraction, Nanoseconds, Overview } from "../../api";
import { percentile } from "../../format";

interface StepStats {
  count: number;
  mean: Nanoseconds;
  p50: Nanoseconds | null;
  p95: Nanoseconds | null;
  max: Nanoseconds | null;
}

export function stepStats({ steps, average }: Overview): StepStats {
  const durations = steps.duration_ns;
  return {
    count: durations.length,
    mean: average.step_ns,
    p50: percentile(durations, 0.5),
    p95: percentile(durations, 0.95),
    max: percentile(durations, 1),
  };
}

interface CategoryRow {
  category: string;
  ns: Nanoseconds;
  /** Of the average step. */
  share: Fraction | null;
}

export function categoryRows({ steps, average }: Overview): CategoryRow[] {
  return steps.categories.map((category) => {
    const ns = average.category_ns[category] ?? 0;
    return { category, ns, share: average.step_ns > 0 ? ns / average.step_ns : null };
  });
}

export function shareOf(overview: Overview, category: string): Fraction | null {
  return categoryRows(overview).find((row) => row.category === category)?.share ?? null;
}

/** Over the devices of which it is known; null when it is of none. */
export function meanSmEfficiency(devices: readonly Device[]): Fraction | null {
  const values = devices.map((each) => each.sm_efficiency).filter((value) => value !== null);
  return values.length === 0 ? null : values.reduce((a, b) => a + b, 0) / values.length;
}
