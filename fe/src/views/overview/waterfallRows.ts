/** The rows of the waterfall. Pure. */
import type { Overview } from "../../api";

export interface WaterfallRow {
  readonly cause: string;
  readonly ns: number;
  /** Where the part begins: the sum of those above it, ns. */
  readonly start: number;
  /** Of a row that stands for several small parts: how many; else 0. */
  readonly others: number;
  /** The same of the baseline. */
  readonly baseNs: number;
  readonly baseStart: number;
}

/** Parts below this share of the step are one row. */
const LEAST = 0.005;
const GROUPS = ["compute", "exposed_communication", "exposed_copy", "host", "idle"];

type Parts = Overview["waterfall"];

/** Work first, idle time last; within these the longest first. What only the baseline has is a row, too. */
export function waterfallRows(
  own: Parts,
  base: Parts = [],
): {
  readonly rows: readonly WaterfallRow[];
  readonly total: number;
} {
  const total = own.reduce((sum, { ns }) => sum + ns, 0);
  const baseOf = new Map(base.map(({ cause, ns }) => [cause, ns]));
  const gone = base.filter(({ cause }) => own.every((part) => part.cause !== cause));
  const parts = [...own, ...gone.map(({ cause }) => ({ cause, ns: 0 }))];
  const isSmall = ({ cause, ns }: { cause: string; ns: number }) =>
    Math.max(ns, baseOf.get(cause) ?? 0) < LEAST * total;
  const shown = parts.filter((part) => !isSmall(part));
  const small = parts.filter(isSmall);
  const sorted = shown.toSorted(
    (a, b) => groupOf(a.cause) - groupOf(b.cause) || b.ns - a.ns || (a.cause < b.cause ? -1 : 1),
  );
  let start = 0;
  let baseStart = 0;
  const rows: WaterfallRow[] = [];
  const put = (cause: string, ns: number, others: number, those = [cause]) => {
    const baseNs = those.reduce((sum, each) => sum + (baseOf.get(each) ?? 0), 0);
    rows.push({ cause, ns, start, others, baseNs, baseStart });
    start += ns;
    baseStart += baseNs;
  };
  for (const { cause, ns } of sorted) put(cause, ns, 0);
  const [only] = small;
  if (small.length === 1 && only) put(only.cause, only.ns, 0);
  else if (small.length > 1)
    put(
      "unknown.others",
      small.reduce((sum, { ns }) => sum + ns, 0),
      small.length,
      small.map(({ cause }) => cause),
    );
  return { rows, total };
}

function groupOf(cause: string): number {
  const found = GROUPS.indexOf(cause.split(".")[0] ?? "");
  return found < 0 ? GROUPS.length : found;
}
