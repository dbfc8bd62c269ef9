/** The selected operator, whatever view is shown. */
import { useMemo } from "react";
import { type OperatorsTable, settled, tables, useTable } from "../../api";
import { operatorsTexts } from "../../i18n";
import { useBaseline, useTrace } from "../../state";
import { hasColumn, onlyRow, RowNumbers, type Table, useRowOf } from "../../table";
import { Async, Skeleton } from "../../ui";
import { CallsOf } from "./ApiCalls";
import { operatorTable } from "./columns";
import { Launched } from "./Launched";
import "./operators.css";

export default function OperatorInspector({ name }: { name: string }) {
  const { sel } = useTrace();
  const query = useTable(tables.operators(sel));
  return <Async query={query}>{(answer) => <Numbers answer={answer} name={name} />}</Async>;
}

function Numbers({ answer: first, name }: { answer: OperatorsTable; name: string }) {
  const { sel } = useTrace();
  const { answer, row } = useRowOf(first, tables.operators(sel), name);
  const baseline = useBaseline()?.key ?? null;
  const compared = useTable(tables.operators(baseline));
  const before = baseline && settled(compared);
  if (row === null) return <Skeleton />;
  if (row < 0) return <p className="muted">{operatorsTexts.gone}</p>;
  return before ? (
    <Compared answer={answer} row={row} baseline={before} name={name} />
  ) : (
    <Shown table={operatorTable(answer)} row={row} name={name} />
  );
}

/** With what it was in the baseline, and the change. */
function Compared({
  answer,
  row,
  baseline: first,
  name,
}: {
  answer: OperatorsTable;
  row: number;
  baseline: OperatorsTable;
  name: string;
}) {
  const baseline = useBaseline()?.key ?? null;
  const before = useRowOf(first, tables.operators(baseline), name);
  const table = useMemo(
    () =>
      before.row === null
        ? null
        : operatorTable(onlyRow(answer, row), onlyRow(before.answer, before.row)),
    [answer, row, before.answer, before.row],
  );
  return table ? <Shown table={table} row={0} name={name} /> : <Skeleton />;
}

function Shown({ table, row, name }: { table: Table; row: number; name: string }) {
  return (
    <div className="operator-inspector">
      <RowNumbers table={table} row={row} without={["name", "has_call_stack"]} />
      {hasColumn(table, "device_self_ns") && <Launched name={name} shape={null} compact />}
      <CallsOf operator={name} />
    </div>
  );
}
