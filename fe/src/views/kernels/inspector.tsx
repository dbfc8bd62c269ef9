/** The selected kernel, whatever view is shown. */
import { useMemo } from "react";
import { type KernelsTable, useKernels } from "../../api";
import { t } from "../../i18n";
import { useSelection } from "../../state";
import { RowNumbers, useRowOf, useTableSource } from "../../table";
import { Async } from "../../ui";
import { Skeleton } from "../../ui/Async";
import { ByOperator } from "./ByOperator";
import { kernelTable } from "./columns";
import "./kernels.css";

export default function KernelInspector({ name }: { name: string }) {
  const { sel } = useSelection();
  const query = useKernels(sel, "name");
  return <Async query={query}>{(answer) => <Numbers answer={answer} name={name} />}</Async>;
}

function Numbers({ answer: first, name }: { answer: KernelsTable; name: string }) {
  const { sel } = useSelection();
  const source = useTableSource("kernels", sel, { group_by: "name" });
  const { answer, row } = useRowOf(first, source, name);
  const table = useMemo(() => kernelTable(answer), [answer]);
  if (row === null) return <Skeleton />;
  if (row < 0) return <p className="muted">{t.kernels.gone}</p>;
  return (
    <div className="kernel-inspector">
      <RowNumbers table={table} row={row} without={["name"]} />
      <ByOperator name={name} compact />
    </div>
  );
}
