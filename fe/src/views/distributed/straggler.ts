/** Which rank the others wait for. Pure; the definition is in docs/views/distributed.md. */
import type { Fraction, Nanoseconds } from "../../api";
import { mean, median } from "../../format";
import type { RankRow } from "./ranks";

/** Waiting less than this share of the step is not worth a remark. */
export const LEAST_SHARE = 0.05;

export interface Straggler {
  readonly row: RankRow;
  /** Its own waiting, and the median of the others'. */
  readonly wait_ns: Nanoseconds;
  readonly others_ns: Nanoseconds;
  /** What the others wait more, of the mean step. */
  readonly share: Fraction;
  /** What it spends longer on than the median of the others; null when it does not. */
  readonly excess: { readonly part: "computing" | "other"; readonly ns: Nanoseconds } | null;
}

/**
 * The rank that waits least, if the others wait so much more that it shows in the step. All ranks leave a collective
 * together, so the one that waits least comes last. Null when no rank stands out, or when the waiting of less
 * than two ranks is known.
 */
export function straggler(rows: readonly RankRow[]): Straggler | null {
  const known = rows.flatMap(({ numbers, ...row }) =>
    numbers && numbers.wait_ns !== null
      ? [{ row, numbers: { ...numbers, wait_ns: numbers.wait_ns } }]
      : [],
  );
  const step = mean(known.map(({ numbers }) => numbers.duration_ns)) ?? 0;
  if (known.length < 2 || step <= 0) return null;
  const last = known.reduce((least, each) =>
    each.numbers.wait_ns < least.numbers.wait_ns ? each : least,
  );
  const others = known.filter((each) => each !== last).map(({ numbers }) => numbers);
  const others_ns = median(others.map(({ wait_ns }) => wait_ns)) ?? 0;
  const share = (others_ns - last.numbers.wait_ns) / step;
  if (share < LEAST_SHARE) return null;
  const excessOf = (value: (numbers: (typeof others)[number]) => number) =>
    value(last.numbers) - (median(others.map(value)) ?? 0);
  const computing = excessOf(({ computation_ns, overlap_ns }) => computation_ns + overlap_ns);
  const other = excessOf(({ other_ns }) => other_ns);
  const excess =
    Math.max(computing, other) <= 0
      ? null
      : computing >= other
        ? { part: "computing" as const, ns: computing }
        : { part: "other" as const, ns: other };
  return {
    row: { ...last.row, numbers: last.numbers },
    wait_ns: last.numbers.wait_ns,
    others_ns,
    share,
    excess,
  };
}
