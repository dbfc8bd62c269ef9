/** The tables of any number of traces. Pure. */
import type { ByNameWhat, TraceScope, TracesByName, TracesTable } from "../../api";
import type { Table } from "../../table";

export const SCOPES: readonly TraceScope[] = ["runs", "run", "all"];

/** What can be compared of each, the first unless another is chosen; without a device, that of the host. */
export const MEASURES: Record<ByNameWhat, readonly string[]> = {
  operators: ["host_self_ns", "device_self_ns", "calls"],
  kernels: ["total_ns", "calls"],
};

/** Numbers of all traces in one unit, beside their spread. */
export function byNameTable({ columns: [name, ...numbers], rows }: TracesByName): Table {
  const inOneUnit = numbers.map((column) => ({ ...column, family: "traces" }));
  return { columns: name ? [name, ...inOneUnit] : [], rows };
}

/** The row of a trace in the table of traces; null when it is not in it. */
export function titleOf(
  { rows }: TracesTable,
  trace: { run: string; worker: string; span: string },
): string | null {
  const at = (rows.run ?? []).findIndex(
    (run, row) =>
      run === trace.run && rows.worker?.[row] === trace.worker && rows.span?.[row] === trace.span,
  );
  const title = rows.trace?.[at];
  return typeof title === "string" ? title : null;
}
