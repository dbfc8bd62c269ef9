import { useMemo } from "react";
import { type KernelsTable, tables, useRows } from "../../api";
import { count, equals } from "../../format";
import { kernelsTexts as text } from "../../i18n";
import { goToView, useTrace } from "../../state";
import { firstRows, rowCount, SimpleTable } from "../../table";
import { Async, Link } from "../../ui";
import { byOperator, kernelTable, rowsOf } from "./columns";

interface Props {
  readonly name: string;
  /** One row for each operator: what fits beside the page. */
  readonly compact?: boolean;
}

const MOST_LAUNCHES = 100;
const BY_LAUNCH = "name_op_launch";

/** One kernel, split by the operator that launched it and by launch properties. */
export function ByOperator({ name, compact = false }: Props) {
  const { sel } = useTrace();
  const query = useRows(tables.kernels(sel, BY_LAUNCH), { filter: equals("name", name) });
  return (
    <Async query={query}>
      {(answer) => <Launches answer={answer} name={name} compact={compact} />}
    </Async>
  );
}

function Launches({ answer, name, compact }: Props & { readonly answer: KernelsTable }) {
  const table = useMemo(() => {
    const launches = rowsOf(kernelTable(answer), name);
    return compact ? byOperator(launches) : launches;
  }, [answer, name, compact]);
  const shown = useMemo(() => firstRows(table, MOST_LAUNCHES), [table]);
  // Of very many launches the server sends the longest.
  const sent = rowCount(answer);
  const launches = answer.meta.matched;
  const all = compact ? sent === launches : rowCount(shown) === launches;
  return (
    <>
      <SimpleTable
        caption={compact ? text.byOperator : text.byLaunch}
        table={shown}
        renderName={(row, label) => {
          const operator = table.rows.operator?.[row];
          // In parentheses stands what is no operator.
          if (typeof operator === "string" && operator.startsWith("(")) return label;
          return typeof operator === "string" && operator !== "" ? (
            <Link
              title={text.showOperator(operator)}
              onClick={() => goToView("operators", { kind: "op", name: operator })}
            >
              {label}
            </Link>
          ) : (
            <span className="muted">{text.noOperator}</span>
          );
        }}
      />
      {!all && (
        <p className="muted">
          {text.longestLaunches(count(compact ? sent : rowCount(shown)), count(launches))}{" "}
          <Link
            onClick={() =>
              goToView("kernels", null, { group: BY_LAUNCH, filter: equals("name", name) })
            }
          >
            {text.allLaunches}
          </Link>
        </p>
      )}
    </>
  );
}
