/** The selected operator, whatever view is shown. */
import { useMemo } from "react";
import { type OperatorsTable, useOperators } from "../../api";
import { t } from "../../i18n";
import { useSelection } from "../../state";
import { hasColumn, RowNumbers } from "../../table";
import { Async } from "../../ui";
import { operatorTable } from "./columns";
import { Launched } from "./Launched";
import "./operators.css";

export default function OperatorInspector({ name }: { name: string }) {
  const { sel } = useSelection();
  const query = useOperators(sel, "name");
  return <Async query={query}>{(answer) => <Numbers answer={answer} name={name} />}</Async>;
}

function Numbers({ answer, name }: { answer: OperatorsTable; name: string }) {
  const table = useMemo(() => operatorTable(answer), [answer]);
  const row = table.rows.name?.indexOf(name) ?? -1;
  if (row < 0) return <p className="muted">{t.operators.gone}</p>;
  return (
    <div className="operator-inspector">
      <RowNumbers table={table} row={row} without={["name", "has_call_stack"]} />
      {hasColumn(answer, "device_self_ns") && <Launched name={name} shape={null} compact />}
    </div>
  );
}
