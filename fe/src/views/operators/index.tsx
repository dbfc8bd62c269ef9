/** Which operators take the time. */
import { useMemo } from "react";
import { ComparedPanel } from "../../answers/AnswerTable";
import { LargestBars, LargestDonut } from "../../answers/Largest";
import { type OperatorsTable, type TraceKey, tables, useTable } from "../../api";
import { TopNControl } from "../../charts";
import { operatorColor } from "../../draw/parts";
import { count, duration, fraction } from "../../format";
import { ownersTexts, operatorsTexts as text } from "../../i18n";
import { Choice, longestSlice } from "../../shell";
import { goToView, useAddress, useTrace } from "../../state";
import { type Rows, rowCount, SimpleTable, textAt } from "../../table";
import { Flow, Help, QueryPanel, Segmented } from "../../ui";
import { ApiCalls } from "./ApiCalls";
import { BACKWARD_OF, isHostFirst, operatorTable } from "./columns";
import { Details } from "./Details";
import { chosenMetric, type Metric, metricsOf, wholeOf } from "./metrics";
import { ownersTable, slicesOf } from "./owners";
import { params } from "./params";
import "../../ui/lines.css";
import "./operators.css";

const NOTHING = {
  title: text.empty,
  reason: text.emptyReason,
  remedy: text.emptyRemedy,
};

export default function Operators() {
  return (
    <Flow>
      <LargestPanel />
      <TablePanel />
      <ApiCalls />
    </Flow>
  );
}

/** Always by name, whatever the table is grouped by. */
function LargestPanel() {
  const query = useTable(tables.operators(useTrace().sel));
  const [wanted, setMetric] = useAddress(params.metric);
  const [chart] = useAddress(params.chart);
  const [top, setTop] = useAddress(params.top);
  const metrics = query.data ? metricsOf(query.data) : [];
  const metric = chosenMetric(wanted, metrics);
  return (
    <QueryPanel
      title={text.largest}
      help={text.largestHelp}
      query={query}
      empty={(data) => (rowCount(data) === 0 ? NOTHING : null)}
      actions={
        <>
          {chart === "bars" && metrics.length > 1 && (
            <Segmented
              label={text.metric}
              value={metric}
              options={metrics}
              names={text.metrics}
              onChange={(next: Metric) => setMetric(next === metrics[0] ? "" : next)}
            />
          )}
          <Choice param={params.chart} label={text.chart} names={text} />
          <TopNControl value={top} onChange={setTop} />
        </>
      }
    >
      {(answer) =>
        chart === "bars" ? (
          <LargestBars
            {...largestOf(answer, metric)}
            top={top}
            whole={wholeOf(answer, metric)}
            sentence={(name, ...shown) => text.sentence(name, text.metrics[metric], ...shown)}
          />
        ) : (
          <div className="operators-donuts">
            {metrics.map((each) => (
              <section key={each}>
                <h3>{text.metrics[each]}</h3>
                <LargestDonut {...largestOf(answer, each)} top={top} />
              </section>
            ))}
          </div>
        )
      }
    </QueryPanel>
  );
}

function largestOf(answer: OperatorsTable, metric: Metric) {
  return {
    title: text.metrics[metric],
    answer,
    tableOf: tables.operators,
    column: `${metric}_ns`,
    kind: "op",
    color,
  } as const;
}

function color(rows: Rows, row: number) {
  return operatorColor(rows.is_communication?.[row] === true);
}

function TablePanel() {
  const [group] = useAddress(params.group);
  const [backward] = useAddress(params.backward);
  const withForward = backward === "with_forward";
  return (
    <ComparedPanel
      id="operators"
      title={text.table}
      tableOf={(sel: TraceKey | null) => tables.operators(sel, group, withForward)}
      shape={operatorTable}
      filter={params.filter}
      sort={params.sort}
      order={(answer) => (isHostFirst(answer) ? "-host_self_ns" : "-device_self_ns")}
      kind="op"
      nameOf={(name) => name.replace(BACKWARD_OF, "")}
      empty={(data) => (rowCount(data) === 0 ? NOTHING : null)}
      actions={(data) => (
        <>
          <Choice labelled param={params.group} label={text.group} names={text.groups} />
          {(withForward || (data && data.meta.unlinked_backward !== null)) && (
            <Choice param={params.backward} label={text.backward} names={text.backwards} />
          )}
        </>
      )}
      renderExpanded={(row, rows, gone) =>
        gone ??
        (textAt(rows, "name", row).endsWith(BACKWARD_OF) ? (
          <p className="muted">{text.backwardRow}</p>
        ) : (
          <Details rows={rows} row={row} hasDevice={"device_self_ns" in rows} />
        ))
      }
    >
      {(answer) => (
        <>
          <Totals answer={answer} />
          <Owners answer={answer} />
        </>
      )}
    </ComparedPanel>
  );
}

function Totals({ answer: { meta } }: { answer: OperatorsTable }) {
  const { device_ns: device, host_ns: host, unattributed_device_ns: unattributed } = meta;
  const unlinked = meta.unlinked_backward;
  return (
    <p className="totals">
      {device ? <span>{text.deviceTotal(duration(device))}</span> : null}
      <span>{text.hostTotal(duration(host))}</span>
      {device && unattributed ? (
        <span>
          {text.unattributed(duration(unattributed), fraction(unattributed / device))}{" "}
          <Help title={text.unattributedHelpTitle}>{text.unattributedHelp}</Help>
        </span>
      ) : null}
      {unlinked !== null && unlinked > 0 && <span>{text.unlinked(fraction(unlinked))}</span>}
    </p>
  );
}

/** What no operator launched, by whom it belongs to instead. */
function Owners({ answer: { meta } }: { answer: OperatorsTable }) {
  const { table, left, leftNs } = useMemo(() => ownersTable(meta), [meta]);
  if (rowCount(table) === 0) return null;
  const door = (row: number) => {
    const owner = meta.unattributed[row];
    const name = owner ? slicesOf(owner) : null;
    return name === null ? null : () => goToView("trace", null, longestSlice(name));
  };
  return (
    <details className="operators-owners">
      <summary>{ownersTexts.title}</summary>
      <SimpleTable caption={ownersTexts.title} table={table} doorOf={door} />
      {left > 0 && <p className="muted">{ownersTexts.more(count(left), duration(leftNs))}</p>}
    </details>
  );
}
