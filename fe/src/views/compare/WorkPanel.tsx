/** The kernels and operators that make up the change, with the result of the test for each. */
import { useMemo } from "react";
import { ViewTable } from "../../answers/AnswerTable";
import type { Change, ChangedWork, Result } from "../../api";
import { partName } from "../../draw/parts";
import { count, duration, signed } from "../../format";
import { compareTexts } from "../../i18n";
import { change as changeTexts } from "../../i18n/en/change";
import { useAddress, usePicked } from "../../state";
import { Link, QueryPanel } from "../../ui";
import { namesOf, workRows, workTable } from "./change";
import { params } from "./params";

const text = changeTexts;

export function WorkPanel({ query }: { query: Result<Change> }) {
  return (
    <QueryPanel
      title={text.work}
      help={text.workHelp}
      query={query}
      empty={({ work }) =>
        work.length === 0 ? { title: text.noWork, reason: text.noWorkReason } : null
      }
    >
      {(answer) => <Work answer={answer} />}
    </QueryPanel>
  );
}

function Work({ answer }: { answer: Change }) {
  const [cause, setCause] = useAddress(params.cause);
  const [selected, select] = usePicked();
  const rows = useMemo(() => workRows(answer, cause), [answer, cause]);
  const table = useMemo(() => workTable(answer.columns, rows), [answer.columns, rows]);
  const picked = rows.find((row) => isPicked(row, selected?.name ?? null));
  return (
    <>
      {cause !== "" && (
        <p className="totals">
          {rows.length === 0 ? text.noneOf(partName(cause)) : text.only(partName(cause))}{" "}
          <Link onClick={() => setCause("")}>{text.all}</Link>
        </p>
      )}
      <ViewTable
        id="compare-change"
        label={text.work}
        table={table}
        filter={params.workFilter}
        sort={params.workSort}
        selected={picked ? String(table.rows.name?.[rows.indexOf(picked)] ?? "") : null}
        onSelect={(row) => {
          const chosen = rows[row];
          const kernel = chosen?.exp_kernels[0] ?? chosen?.kernels[0];
          const operator = chosen?.exp_operator ?? chosen?.operator;
          if (kernel) select({ kind: "kernel", name: kernel });
          else if (operator) select({ kind: "op", name: operator });
        }}
        renderExpanded={(row) => <Names row={rows[row]} />}
      />
      {answer.left_out > 0 && (
        <p className="muted">
          {text.leftOut(count(answer.left_out), signed(answer.left_out_ns, duration))}
        </p>
      )}
    </>
  );
}

function isPicked(row: ChangedWork, name: string | null): boolean {
  return (
    name !== null &&
    [...row.exp_kernels, ...row.kernels, row.exp_operator, row.operator].includes(name)
  );
}

/** Names that were put together are never hidden. */
function Names({ row }: { row: ChangedWork | undefined }) {
  if (!row) return null;
  const { before, after } = namesOf(row);
  const side = (title: string, names: readonly string[]) => (
    <div>
      <strong>{title}</strong>
      <ul>
        {names.map((name) => (
          <li key={name}>{name}</li>
        ))}
        {names.length === 0 && <li>{text.nothingThere}</li>}
      </ul>
    </div>
  );
  return (
    <div className="compare-names">
      {side(compareTexts.baseline, before)}
      {side(compareTexts.experiment, after)}
      {row.how !== null && <p className="muted">{text.howSaid[row.how]}</p>}
    </div>
  );
}
