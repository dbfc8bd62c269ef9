import type { OperatorsTable } from "../../api";
import { t } from "../../i18n";
import { declared, derive, type Table } from "../../table";

const text = t.operators.shares;

/** What they refer to is said more exactly here than the table can. */
const SHARES = {
  device_self_share: { help: text.deviceSelfHelp },
  host_self_share: { help: text.hostSelfHelp },
};

/** Shown when asked for: the others fit into a window of 1440 pixels. `has_call_stack` is for other code. */
const HIDDEN: ReadonlySet<string> = new Set([
  "has_call_stack",
  "kernels",
  "tensor_core_eligible",
  "tensor_core_total",
]);

/** The server's columns with shares and averages. */
export function operatorTable({ columns, rows }: OperatorsTable): Table {
  const shown = columns.map((column) =>
    HIDDEN.has(column.key) ? { ...column, hidden: true } : column,
  );
  return derive({ columns: shown, rows }, declared({ columns }, SHARES));
}
