/** How many steps take how long. Pure. */
import { roundStep } from "../../draw";
import { median, medianDeviation } from "../../format";

/** Of fewer, the bars of the steps themselves say more. */
export const MORE_THAN = 20;
const FEWEST_BINS = 16;
const MOST_BINS = 40;
/** What is farther above the median shares the last bin: one far step must not make all others one bar. */
const REACH = 8;

export interface Histogram {
  /** Where each bin begins, ns; the first of them below the shortest step. */
  readonly from: readonly number[];
  /** ns. */
  readonly width: number;
  /** The last bin has no end. */
  readonly isOpen: boolean;
  /** By step. */
  readonly bin: readonly number[];
}

export function histogramOf(durations: readonly number[]): Histogram {
  const least = Math.min(...durations);
  const most = Math.max(...durations);
  const reach = (median(durations) ?? 0) + REACH * (medianDeviation(durations) ?? 0);
  const top = reach > least ? Math.min(most, reach) : most;
  const wanted = Math.min(MOST_BINS, Math.max(FEWEST_BINS, Math.ceil(Math.sqrt(durations.length))));
  const width = Math.max(1, roundStep(Math.max(1, top - least) / wanted));
  const begin = Math.floor(least / width) * width;
  const last = Math.floor((top - begin) / width);
  const isOpen = most >= begin + (last + 1) * width;
  const count = last + 1 + (isOpen ? 1 : 0);
  return {
    from: Array.from({ length: count }, (_, at) => begin + at * width),
    width,
    isOpen,
    bin: durations.map((ns) => Math.min(count - 1, Math.floor((ns - begin) / width))),
  };
}
