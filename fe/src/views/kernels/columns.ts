import type { KernelsTable } from "../../api";
import { compareTexts, kernelsTexts } from "../../i18n";
import {
  allRows,
  type Cell,
  declared,
  derive,
  described,
  hiding,
  numberAt,
  rowsAt,
  type Table,
  withBaseline,
  withShortNames,
} from "../../table";

/** Left out at first where operator, grid and block need the room. */
const HIDDEN_BY_LAUNCH = [
  "kind",
  "tensor_cores_used",
  "mean_blocks_per_sm",
  "flop_rate",
  "byte_rate",
];

const SAID = {
  kind: { words: kernelsTexts.kinds },
  mean_achieved_occupancy: { missing: kernelsTexts.occupancyUnknown },
};

const SHARES = { total_share: { label: kernelsTexts.share, help: kernelsTexts.shareHelp } };

/** The same for the columns of a baseline. */
const HIDDEN_IN_COMPARISON = [...HIDDEN_BY_LAUNCH, "mean_ns", "max_ns", "min_ns"];

/** The server's columns with the share of the kernel time, and next to them what they were in the baseline. */
export function kernelTable(answer: KernelsTable, baseline: KernelsTable | null = null): Table {
  const { columns, rows, meta } = answer;
  const hidden = baseline
    ? HIDDEN_IN_COMPARISON
    : meta.group_by === "name_op_launch"
      ? HIDDEN_BY_LAUNCH
      : [];
  const table = { columns: hiding(described(columns, SAID), hidden), rows };
  const derived = derive(
    baseline ? compared(table, baseline) : table,
    declared({ columns }, SHARES),
  );
  return withShortNames(derived);
}

function compared(table: Table, baseline: KernelsTable): Table {
  return withBaseline(table, baseline, {
    keys: [
      "name",
      "short_name",
      "kind",
      "library",
      "operator",
      "grid",
      "block",
      "registers_per_thread",
      "shared_memory_bytes",
    ],
    measures: ["total_ns", "calls"],
    shown: ["total_ns"],
    calls: "calls",
    texts: compareTexts.columns,
  });
}

/** Calls and time summed for each operator, the largest first. */
export function byOperator({ columns, rows }: Table): Table {
  const sums = new Map<Cell, { calls: number; total: number }>();
  for (const [row, operator] of (rows.operator ?? []).entries()) {
    const sum = sums.get(operator) ?? { calls: 0, total: 0 };
    sum.calls += numberAt(rows, "calls", row) ?? 0;
    sum.total += numberAt(rows, "total_ns", row) ?? 0;
    sums.set(operator, sum);
  }
  const sorted = [...sums].sort((a, b) => b[1].total - a[1].total);
  return {
    columns: columns.filter(({ key }) => ["operator", "calls", "total_ns"].includes(key)),
    rows: {
      operator: sorted.map(([operator]) => operator),
      calls: sorted.map(([, { calls }]) => calls),
      total_ns: sorted.map(([, { total }]) => total),
    },
  };
}

/** What all launches of a kernel have in common. */
const OF_NAME = ["name", "short_name", "kind", "library"];

/** The rows of one kernel, without the columns that are the same in all of them; the first is the operator. */
export function rowsOf(table: Table, name: string): Table {
  const { columns, rows } = rowsAt(
    table,
    allRows(table).filter((row) => table.rows.name?.[row] === name),
  );
  return { columns: columns.filter(({ key }) => !OF_NAME.includes(key)), rows };
}
