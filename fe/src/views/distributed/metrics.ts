import { bare } from "../../i18n";

/** What the heat map can show, in the order in which it is offered: first what tells ranks apart. */
export const METRICS = [
  "own_ns",
  "step_ns",
  "compute_ns",
  "exposed_wait_ns",
  "exposed_transfer_ns",
  "input_ns",
  "host_ns",
  "memory_bytes",
] as const;
export type Metric = (typeof METRICS)[number];

/** What links of before called some metrics. */
const BEFORE: Readonly<Record<string, Metric>> = bare({
  duration_ns: "step_ns",
  computation_ns: "compute_ns",
  communication_only_ns: "exposed_transfer_ns",
  wait_ns: "exposed_wait_ns",
});

/** The metric that the address names; null for none that there is. */
export function metricOf(written: string): Metric | null {
  return METRICS.find((metric) => metric === written) ?? BEFORE[written] ?? null;
}
