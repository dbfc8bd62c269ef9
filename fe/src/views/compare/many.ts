/** The tables of any number of traces. Pure. */
import type { ByNameWhat, TraceScope, TracesByName, TracesTable } from "../../api";
import type { Table } from "../../table";

export const SCOPES: readonly TraceScope[] = ["runs", "run", "all"];

/** What can be compared of each, the first unless another is chosen; without a device, that of the host. */
export const MEASURES: Record<ByNameWhat, readonly string[]> = {
  operators: ["host_self_ns", "device_self_ns", "calls"],
  kernels: ["total_ns", "calls"],
};

/** Named in the title of a row already, or of use only now and then. */
const HIDDEN = new Set([
  "run",
  "worker",
  "span",
  "devices",
  "communicating",
  "exposed_communication_ns",
  "sm_efficiency",
  "achieved_occupancy",
  "occupancy_known_share",
  "tensor_cores_unknown",
  "memcpy",
  "memset",
  "top_operator",
  "top_kernel",
]);

export function tracesTable({ columns, rows }: TracesTable): Table {
  return {
    columns: columns.map((column) =>
      HIDDEN.has(column.key) ? { ...column, hidden: true } : column,
    ),
    rows,
  };
}

/** The spread, which says where to look, stands before the traces. */
export function byNameTable({ columns, rows }: TracesByName): Table {
  const [name, ...others] = columns;
  const spread = others.filter(({ key }) => key === "spread");
  const traces = others.filter(({ key }) => key !== "spread");
  const numbers = [...spread, ...traces].map((column) => ({ ...column, family: "traces" }));
  return { columns: name ? [name, ...numbers] : [], rows };
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
