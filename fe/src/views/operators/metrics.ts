import type { OperatorsTable } from "../../api";
import { hasColumn } from "../../table";
import { isHostFirst } from "./columns";

export type Metric = "device_self" | "device_total" | "host_self" | "host_total" | "api_self";

const DEVICE: readonly Metric[] = ["device_self", "device_total"];
const HOST: readonly Metric[] = ["host_self", "host_total", "api_self"];

/** Those that the trace has; the first one is the default. */
export function metricsOf(table: OperatorsTable): Metric[] {
  const metrics = isHostFirst(table) ? [...HOST, ...DEVICE] : [...DEVICE, ...HOST];
  return metrics.filter((metric) => hasColumn(table, `${metric}_ns`));
}

/** The wanted metric if the trace has it. */
export function chosenMetric(wanted: string, available: readonly Metric[]): Metric {
  return available.find((metric) => metric === wanted) ?? available[0] ?? "host_self";
}

/** What a bar is a part of. Total times of nested operators overlap, so they are parts of nothing. */
export function wholeOf(table: OperatorsTable, metric: Metric): number | null {
  if (metric === "device_self") return table.meta.device_ns;
  return metric === "host_self" ? table.meta.host_ns : null;
}
