import type { OperatorsTable } from "../../api";
import { compareTexts, operatorsTexts } from "../../i18n";
import { declared, derive, described, hiding, type Table, withBaseline } from "../../table";

const text = operatorsTexts.shares;

/** What they refer to is said more exactly here than the table can. */
const SHARES = {
  device_self_share: { help: text.deviceSelfHelp },
  host_self_share: { help: text.hostSelfHelp },
};

/** What is behind the name of a forward operator where its backward has a row of its own. */
export const BACKWARD_OF = " (backward)";

/** Left out at first when the columns of a baseline need the room. */
const HIDDEN_IN_COMPARISON = [
  "tensor_core_self",
  "device_total_ns",
  "host_total_ns",
  "api_self_ns",
];

const SAID = { name: { tail: BACKWARD_OF } };

/** Whether what the host did comes first: no device worked. */
export function isHostFirst({ meta, rows }: OperatorsTable): boolean {
  return !("device_self_ns" in rows) || meta.device_busy === 0;
}

const HOST_COLUMNS: ReadonlySet<string> = new Set(["host_self_ns", "host_total_ns", "api_self_ns"]);
const DEVICE_COLUMNS: ReadonlySet<string> = new Set([
  "device_self_ns",
  "device_total_ns",
  "kernels",
]);

/** Columns of the host before those of devices, where that is what matters. */
function hostFirst(columns: OperatorsTable["columns"]): OperatorsTable["columns"] {
  const host = columns.filter(({ key }) => HOST_COLUMNS.has(key));
  const others = columns.filter(({ key }) => !HOST_COLUMNS.has(key));
  const at = others.findIndex(({ key }) => DEVICE_COLUMNS.has(key));
  return at < 0 ? columns : [...others.slice(0, at), ...host, ...others.slice(at)];
}

/** The server's columns with shares and averages, and next to them what they were in the baseline. */
export function operatorTable(
  answer: OperatorsTable,
  baseline: OperatorsTable | null = null,
): Table {
  const { rows } = answer;
  const columns = isHostFirst(answer) ? hostFirst(answer.columns) : answer.columns;
  const device = "device_self_ns" in rows;
  // Without device work no operator has a share of it.
  const hidden = baseline ? HIDDEN_IN_COMPARISON : device ? [] : ["tensor_core_self"];
  const table = { columns: hiding(described(columns, SAID), hidden), rows };
  return derive(baseline ? compared(table, baseline) : table, declared({ columns }, SHARES));
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
    texts: compareTexts.columns,
  });
}
