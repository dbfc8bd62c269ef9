import type { KernelsTable } from "../../api";
import { bareName } from "../../format";
import { t } from "../../i18n";
import { type Cell, derive, numberAt, shareOf, type Table } from "../../table";

/** The server's columns with the share of the kernel time. */
export function kernelTable({ columns, rows, meta }: KernelsTable): Table {
  const shown = columns.map((column) =>
    column.key === "name" ? { ...column, brief: bareName } : column,
  );
  return derive({ columns: shown, rows }, [
    shareOf("total_ns", meta.kernel_ns, {
      key: "share",
      label: t.kernels.share,
      help: t.kernels.shareHelp,
    }),
  ]);
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

/** The rows of one kernel, without the column that says so. */
export function rowsOf({ columns, rows }: Table, name: string): Table {
  const wanted = (rows.name ?? []).flatMap((cell, row) => (cell === name ? [row] : []));
  const kept = columns.filter(({ key }) => key !== "name");
  return {
    columns: kept,
    rows: Object.fromEntries(
      kept.map(({ key }) => [key, wanted.map((row) => rows[key]?.[row] ?? null)]),
    ),
  };
}
