/** The selected operator, whatever view is shown. */
import { useMemo } from "react";
import { type OperatorsTable, useOperators } from "../../api";
import { t } from "../../i18n";
import { useSelection } from "../../state";
import { hasColumn, RowNumbers, useRowOf, useTableSource } from "../../table";
import { Async } from "../../ui";
import { Skeleton } from "../../ui/Async";
import { operatorTable } from "./columns";
import { Launched } from "./Launched";
import "./operators.css";

export default function OperatorInspector({ name }: { name: string }) {
  const { sel } = useSelection();
  const query = useOperators(sel, "name");
  return <Async query={query}>{(answer) => <Numbers answer={answer} name={name} />}</Async>;
}

function Numbers({ answer: first, name }: { answer: OperatorsTable; name: string }) {
  const { sel } = useSelection();
  const source = useTableSource("operators", sel, { group_by: "name" });
  const { answer, row } = useRowOf(first, source, name);
  const table = useMemo(() => operatorTable(answer), [answer]);
  if (row === null) return <Skeleton />;
  if (row < 0) return <p className="muted">{t.operators.gone}</p>;
  return (
    <div className="operator-inspector">
      <RowNumbers table={table} row={row} without={["name", "has_call_stack"]} />
      {hasColumn(answer, "device_self_ns") && <Launched name={name} shape={null} compact />}
    </div>
  );
}
