/** The selected kernel, whatever view is shown. */
import { RowInspector } from "../../answers/RowInspector";
import { tables } from "../../api";
import { kernelsTexts } from "../../i18n";
import { ByOperator } from "./ByOperator";
import { kernelTable } from "./columns";

const WITHOUT = ["name"];

export default function KernelInspector({ name }: { name: string }) {
  return (
    <RowInspector
      name={name}
      tableOf={tables.kernels}
      shape={kernelTable}
      without={WITHOUT}
      gone={kernelsTexts.gone}
    >
      {() => <ByOperator name={name} compact />}
    </RowInspector>
  );
}
