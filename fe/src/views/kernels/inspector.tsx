/** The selected kernel, whatever view is shown. */
import { useMemo } from "react";
import { type KernelsTable, useKernels } from "../../api";
import { t } from "../../i18n";
import { useSelection } from "../../state";
import { RowNumbers } from "../../table";
import { Async } from "../../ui";
import { ByOperator } from "./ByOperator";
import { kernelTable } from "./columns";
import "./kernels.css";

export default function KernelInspector({ name }: { name: string }) {
  const { sel } = useSelection();
  const query = useKernels(sel, "name");
  return <Async query={query}>{(answer) => <Numbers answer={answer} name={name} />}</Async>;
}

function Numbers({ answer, name }: { answer: KernelsTable; name: string }) {
  const table = useMemo(() => kernelTable(answer), [answer]);
  const row = table.rows.name?.indexOf(name) ?? -1;
  if (row < 0) return <p className="muted">{t.kernels.gone}</p>;
  return (
    <div className="kernel-inspector">
      <RowNumbers table={table} row={row} without={["name"]} />
      <ByOperator name={name} compact />
    </div>
  );
}
