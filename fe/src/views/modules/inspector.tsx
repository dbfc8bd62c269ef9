/** The selected module, whatever view is shown. */
import { useMemo } from "react";
import { type ModuleSource, type ModulesTable, useModules } from "../../api";
import { modulesTexts as text } from "../../i18n";
import { modulePath, rowOfModule } from "../../shell";
import { useAddress, usePicked, useTrace } from "../../state";
import { numberAt, RowNumbers, rowCount, SimpleTable, textAt } from "../../table";
import { Async, Link } from "../../ui";
import { insideOf, moduleTable } from "./columns";
import { chosenMetric, metricsOf } from "./metrics";
import { params } from "./params";
import "./modules.css";

export default function ModuleInspector({ name }: { name: string }) {
  const { sel } = useTrace();
  const query = useModules(sel);
  return <Async query={query}>{(answer) => <InSource answer={answer} name={name} />}</Async>;
}

/** The path does not say who named the module. */
function InSource({ answer, name }: { answer: ModulesTable; name: string }) {
  const { sel } = useTrace();
  const row = useMemo(() => rowOfModule(answer, name), [answer, name]);
  const other: ModuleSource | undefined =
    row < 0 ? answer.meta.sources.find((source) => source !== answer.meta.source) : undefined;
  const query = useModules(other ? sel : null, other);
  if (row >= 0) return <Numbers answer={answer} row={row} />;
  if (!other) return <p className="muted">{text.gone}</p>;
  return (
    <Async query={query}>
      {(found) => {
        const at = rowOfModule(found, name);
        return at < 0 ? <p className="muted">{text.gone}</p> : <Numbers answer={found} row={at} />;
      }}
    </Async>
  );
}

function Numbers({ answer, row }: { answer: ModulesTable; row: number }) {
  const [, select] = usePicked();
  const [wanted] = useAddress(params.metric);
  const metric = chosenMetric(wanted, metricsOf(answer));
  const table = useMemo(() => moduleTable(answer, metric), [answer, metric]);
  const inside = useMemo(() => insideOf(answer, row, metric), [answer, row, metric]);
  const parent = numberAt(answer.rows, "parent", row) ?? -1;
  const go = (to: number) => select({ kind: "mod", name: modulePath(answer, to) });
  return (
    <div className="module-inspector">
      {parent >= 0 && (
        <p>
          {text.calledBy}{" "}
          <Link onClick={() => go(parent)}>{textAt(answer.rows, "name", parent)}</Link>
        </p>
      )}
      <RowNumbers table={table} row={row} without={["name", "id", "parent"]} />
      {rowCount(inside) > 0 && (
        <SimpleTable
          caption={text.contains}
          table={inside}
          renderName={(at, name) => (
            <Link onClick={() => go(numberAt(inside.rows, "id", at) ?? row)}>{name}</Link>
          )}
        />
      )}
    </div>
  );
}
