import type { ModulesTable } from "../../api";
import { around } from "../../draw";
import { hasColumn, numberAt, rowCount, textAt } from "../../table";
import { moduleClass } from "./moduleClass";

export const METRICS = [
  "device_total_ns",
  "device_self_ns",
  "backward_device_ns",
  "host_total_ns",
  "host_self_ns",
  "backward_host_ns",
] as const;
export type Metric = (typeof METRICS)[number];

/** Those that this trace has; the first is what matters most. */
export function metricsOf(answer: ModulesTable): Metric[] {
  return METRICS.filter((key) => hasColumn(answer, key));
}

export function chosenMetric(wanted: string, metrics: readonly Metric[]): Metric {
  return metrics.find((metric) => metric === wanted) ?? metrics[0] ?? "host_total_ns";
}

/** The kind of time whose own part counts: totals are for the self times that they are made of. */
export function ownMetric(metric: Metric, metrics: readonly Metric[]): Metric {
  const own = { device_total_ns: "device_self_ns", host_total_ns: "host_self_ns" } as const;
  const key = metric in own ? own[metric as keyof typeof own] : metric;
  return metrics.includes(key) ? key : metric;
}

/** Of each module what its box is wide for beside those of the modules in it. */
export function ownValues({ rows }: ModulesTable, metric: Metric): Float64Array {
  const size = rows.id?.length ?? 0;
  const own = Float64Array.from({ length: size }, (_, row) => numberAt(rows, metric, row) ?? 0);
  if (metric === "device_self_ns" || metric === "host_self_ns") return own;
  const inside = new Float64Array(size);
  for (let row = 0; row < size; row++) {
    const parent = numberAt(rows, "parent", row) ?? -1;
    if (parent >= 0) inside[parent] = (inside[parent] ?? 0) + (own[row] ?? 0);
  }
  // Lightning's modules are inside each other by name, so they can take longer than what is around them.
  return own.map((value, row) => Math.max(0, value - (inside[row] ?? 0)));
}

/** The module with the most of a metric of its own; -1 for none. */
export function hottest(answer: ModulesTable, metric: Metric): number {
  const own = ownValues(answer, ownMetric(metric, metricsOf(answer)));
  let most = -1;
  for (let row = 0; row < own.length; row++)
    if ((own[row] ?? 0) > (most < 0 ? 0 : (own[most] ?? 0))) most = row;
  return most;
}

interface Class {
  readonly name: string;
  /** How many of its modules have any time. */
  readonly count: number;
  readonly ns: number;
  /** The one with most. */
  readonly row: number;
}

/** The class of modules with the most of a metric of its own, which add up over all classes; null for none. */
export function hottestClass(answer: ModulesTable, metric: Metric): Class | null {
  const own = ownValues(answer, ownMetric(metric, metricsOf(answer)));
  const byName = new Map<string, Class>();
  own.forEach((ns, row) => {
    if (ns <= 0) return;
    const name = moduleClass(textAt(answer.rows, "name", row));
    const { count, ns: sum, row: most } = byName.get(name) ?? { count: 0, ns: 0, row };
    const largest = ns > (own[most] ?? 0) ? row : most;
    byName.set(name, { name, count: count + 1, ns: sum + ns, row: largest });
  });
  return [...byName.values()].toSorted((a, b) => b.ns - a.ns)[0] ?? null;
}

/** Rows that are opened below the outermost ones at most, so that a deep model is not all of the table. */
const MOST_OPEN = 16;

/**
 * Which modules are open at first: the outermost ones, and those around the hottest one. It is that of the first metric
 * that has any time, whichever is shown: the address says what differs from it.
 */
export function openAtFirst(answer: ModulesTable): ReadonlySet<number> {
  const parent = answer.rows.parent as number[];
  const hot = metricsOf(answer)
    .map((metric) => hottest(answer, metric))
    .find((row) => row >= 0);
  const ways = hot === undefined ? [] : around(parent, hot);
  const outermost = parent.flatMap((above, row) => (above < 0 ? [row] : []));
  return new Set([...outermost, ...ways.slice(0, MOST_OPEN + 1)]);
}

/** What the shares of a metric refer to: that of the outermost modules, or of all for times without nested modules. */
export function wholeOf(answer: ModulesTable, metric: Metric): number {
  const isSelf = metric === "device_self_ns" || metric === "host_self_ns";
  let whole = 0;
  for (let row = 0; row < rowCount(answer); row++) {
    const isTop = (numberAt(answer.rows, "parent", row) ?? -1) < 0;
    if (isSelf || isTop) whole += numberAt(answer.rows, metric, row) ?? 0;
  }
  return whole;
}
