/** The selected kernel, whatever view is shown. */
import { useMemo } from "react";
import { type KernelsTable, settled, tables, useTable } from "../../api";
import { kernelsTexts } from "../../i18n";
import { useBaseline, useTrace } from "../../state";
import { onlyRow, RowNumbers, type Table, useRowOf } from "../../table";
import { Async, Skeleton } from "../../ui";
import { ByOperator } from "./ByOperator";
import { kernelTable } from "./columns";
import "./kernels.css";

export default function KernelInspector({ name }: { name: string }) {
  const { sel } = useTrace();
  const query = useTable(tables.kernels(sel));
  return <Async query={query}>{(answer) => <Numbers answer={answer} name={name} />}</Async>;
}

function Numbers({ answer: first, name }: { answer: KernelsTable; name: string }) {
  const { sel } = useTrace();
  const { answer, row } = useRowOf(first, tables.kernels(sel), name);
  const baseline = useBaseline()?.key ?? null;
  const compared = useTable(tables.kernels(baseline));
  const before = baseline && settled(compared);
  if (row === null) return <Skeleton />;
  if (row < 0) return <p className="muted">{kernelsTexts.gone}</p>;
  return before ? (
    <Compared answer={answer} row={row} baseline={before} name={name} />
  ) : (
    <Shown table={kernelTable(answer)} row={row} name={name} />
  );
}

/** With what it was in the baseline, and the change. */
function Compared({
  answer,
  row,
  baseline: first,
  name,
}: {
  answer: KernelsTable;
  row: number;
  baseline: KernelsTable;
  name: string;
}) {
  const baseline = useBaseline()?.key ?? null;
  const before = useRowOf(first, tables.kernels(baseline), name);
  const table = useMemo(
    () =>
      before.row === null
        ? null
        : kernelTable(onlyRow(answer, row), onlyRow(before.answer, before.row)),
    [answer, row, before.answer, before.row],
  );
  return table ? <Shown table={table} row={0} name={name} /> : <Skeleton />;
}

function Shown({ table, row, name }: { table: Table; row: number; name: string }) {
  return (
    <div className="kernel-inspector">
      <RowNumbers table={table} row={row} without={["name"]} />
      <ByOperator name={name} compact />
    </div>
  );
}
