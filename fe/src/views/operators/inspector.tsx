/** The selected operator, whatever view is shown. */
import { RowInspector } from "../../answers/RowInspector";
import { tables } from "../../api";
import { operatorsTexts } from "../../i18n";
import { hasColumn } from "../../table";
import { CallsOf } from "./ApiCalls";
import { operatorTable } from "./columns";
import { Launched } from "./Launched";

const WITHOUT = ["name", "has_call_stack"];

export default function OperatorInspector({ name }: { name: string }) {
  return (
    <RowInspector
      name={name}
      tableOf={tables.operators}
      shape={operatorTable}
      without={WITHOUT}
      gone={operatorsTexts.gone}
    >
      {(table) => (
        <>
          {hasColumn(table, "device_self_ns") && <Launched name={name} shape={null} compact />}
          <CallsOf operator={name} />
        </>
      )}
    </RowInspector>
  );
}
