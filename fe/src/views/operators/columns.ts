import type { OperatorsTable } from "../../api";
import { t } from "../../i18n";
import { derive, perCall, shareOf, type Table } from "../../table";

const text = t.operators.shares;

/** The server's columns with shares and averages; whether a stack exists is asked for, not shown. */
export function operatorTable({ columns, rows, meta }: OperatorsTable): Table {
  const shown = columns.map((column) =>
    column.key === "has_call_stack" ? { ...column, hidden: true } : column,
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
    }),
  ]);
}
