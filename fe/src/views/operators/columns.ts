import type { OperatorsTable } from "../../api";
import { t } from "../../i18n";
import { derive, perCall, shareOf, type Table } from "../../table";

const text = t.operators.shares;

/** Shown when asked for: the others fit into a window of 1440 pixels. `has_call_stack` is for other code. */
const HIDDEN: ReadonlySet<string> = new Set([
  "has_call_stack",
  "kernels",
  "tensor_core_eligible",
  "tensor_core_total",
]);

/** The server's columns with shares and averages. */
export function operatorTable({ columns, rows, meta }: OperatorsTable): Table {
  const shown = columns.map((column) =>
    HIDDEN.has(column.key) ? { ...column, hidden: true } : column,
  );
  return derive({ columns: shown, rows }, [
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
