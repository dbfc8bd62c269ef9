/** The rows of the waterfall. Pure. */
import type { Overview } from "../../api";

interface WaterfallRow {
  readonly cause: string;
  readonly ns: number;
  /** Where the part begins: the sum of those above it, ns. */
  readonly start: number;
  /** Of a row that stands for several small parts: how many; else 0. */
  readonly others: number;
}

/** Parts below this share of the step are one row. */
const LEAST = 0.005;
const GROUPS = ["compute", "exposed_communication", "exposed_copy", "host", "idle"];

/** Work first, idle time last; within these the longest first. */
export function waterfallRows(parts: Overview["waterfall"]): {
  readonly rows: readonly WaterfallRow[];
  readonly total: number;
} {
  const total = parts.reduce((sum, { ns }) => sum + ns, 0);
  const shown = parts.filter(({ ns }) => ns >= LEAST * total);
  const small = parts.filter(({ ns }) => ns < LEAST * total);
  const sorted = shown.toSorted(
    (a, b) => groupOf(a.cause) - groupOf(b.cause) || b.ns - a.ns || (a.cause < b.cause ? -1 : 1),
  );
  let start = 0;
  const rows: WaterfallRow[] = [];
  const put = (cause: string, ns: number, others: number) => {
    rows.push({ cause, ns, start, others });
    start += ns;
  };
  for (const { cause, ns } of sorted) put(cause, ns, 0);
  const [only] = small;
  if (small.length === 1 && only) put(only.cause, only.ns, 0);
  else if (small.length > 1)
    put(
      "unknown.others",
      small.reduce((sum, { ns }) => sum + ns, 0),
      small.length,
    );
  return { rows, total };
}

function groupOf(cause: string): number {
  const found = GROUPS.indexOf(cause.split(".")[0] ?? "");
  return found < 0 ? GROUPS.length : found;
}
