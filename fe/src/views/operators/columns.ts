import type { OperatorsTable } from "../../api";
import { t } from "../../i18n";
import { derive, perCall, shareOf, type Table, withBaseline } from "../../table";

const text = t.operators.shares;

/** Shown when asked for: the others fit into a window of 1440 pixels. `has_call_stack` is for other code. */
const HIDDEN: ReadonlySet<string> = new Set([
  "has_call_stack",
  "kernels",
  "tensor_core_eligible",
  "tensor_core_total",
]);

/** Left out at first when the columns of a baseline need the room. */
const HIDDEN_IN_COMPARISON: ReadonlySet<string> = new Set([
  ...HIDDEN,
  "tensor_core_self",
  "device_total_ns",
  "host_total_ns",
]);

/** The server's columns with shares and averages, and next to them what they were in the baseline. */
export function operatorTable(
  { columns, rows, meta }: OperatorsTable,
  baseline: OperatorsTable | null = null,
): Table {
  const hidden = baseline ? HIDDEN_IN_COMPARISON : HIDDEN;
  const shown = columns.map((column) =>
    hidden.has(column.key) ? { ...column, hidden: true } : column,
  );
  const table = { columns: shown, rows };
  return derive(baseline ? compared(table, baseline) : table, [
    shareOf("device_self_ns", meta.device_ns, {
      key: "device_self_share",
      label: text.deviceSelf,
      help: text.deviceSelfHelp,
    }),
    perCall("device_total_ns", {
      key: "device_call_ns",
      label: text.deviceCall,
      help: text.deviceCallHelp,
      hidden: true,
    }),
    shareOf("host_self_ns", meta.host_ns, {
      key: "host_self_share",
      label: text.hostSelf,
      help: text.hostSelfHelp,
    }),
    perCall("host_total_ns", {
      key: "host_call_ns",
      label: text.hostCall,
      help: text.hostCallHelp,
      hidden: true,
    }),
  ]);
}

function compared(table: Table, baseline: OperatorsTable): Table {
  const device = [table, baseline].some(({ rows }) => rows.device_self_ns);
  return withBaseline(table, baseline, {
    keys: ["name", "input_shape", "call_stack"],
    measures: [
      "device_self_ns",
      "device_total_ns",
      "host_self_ns",
      "host_total_ns",
      "calls",
    ].filter((key) => device || !key.startsWith("device")),
    shown: device ? ["device_self_ns"] : ["host_self_ns"],
    calls: "calls",
    texts: t.compare.columns,
  });
}
