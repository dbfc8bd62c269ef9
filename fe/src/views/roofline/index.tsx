/** How good it could be: MFU, the roofline, and the time that is lost beside it. */
import { AnswerTable } from "../../answers/AnswerTable";
import { type RooflineTable, tables, useFlops, useTable } from "../../api";
import { duration } from "../../format";
import { roofline as text } from "../../i18n/en/roofline";
import { Choice } from "../../shell";
import { ShowIn, showInTrace } from "../../shell/findings";
import { useAddress, useTrace } from "../../state";
import { numberAt, type Rows, rowCount, textAt } from "../../table";
import { Button, Flow, QueryPanel } from "../../ui";
import { Answer } from "./Answer";
import { rooflineTable } from "./columns";
import { GROUPS, params } from "./params";
import { PICKED, RooflineChart } from "./RooflineChart";
import "../../ui/lines.css";
import "./roofline.css";

const NOTHING = { title: text.empty, reason: text.emptyReason, remedy: text.emptyRemedy };

export default function Roofline() {
  const { sel } = useTrace();
  const [group] = useAddress(params.group);
  const flops = useFlops(sel);
  const shown = tables.roofline(sel, group);
  const query = useTable(shown);
  const empty = (answer: RooflineTable) => (rowCount(answer) === 0 ? NOTHING : null);
  const there: Readonly<Record<string, boolean | undefined>> = {
    module: query.data?.meta.modules,
    line: query.data?.meta.lines,
    phase: flops.data && flops.data.phases.length > 0,
  };
  // Before, a choice that goes away again would move the others.
  const isKnown = !flops.isPending && !query.isPending;
  const groups = GROUPS.filter((each) => each === group || there[each] !== false);
  return (
    <Flow className="roofline">
      <QueryPanel title={text.answer} help={text.answerHelp} query={flops}>
        {(answer) => <Answer flops={answer} table={query.data} />}
      </QueryPanel>
      <QueryPanel
        title={text.chart}
        help={text.chartHelp}
        query={query}
        empty={empty}
        actions={
          isKnown && (
            <Choice
              labelled
              param={params.group}
              label={text.group}
              names={text.groups}
              of={groups}
            />
          )
        }
      >
        {(answer) => <RooflineChart answer={answer} />}
      </QueryPanel>
      <QueryPanel
        className="across"
        title={text.table}
        help={text.tableHelp}
        query={query}
        empty={empty}
      >
        {(answer) => (
          <>
            <Lost {...answer.meta} />
            <AnswerTable
              id={`roofline-${answer.meta.group_by}`}
              label={text.table}
              answer={answer}
              handle={shown}
              shape={rooflineTable}
              filter={params.filter}
              sort={params.sort}
              kind={PICKED[answer.meta.group_by]}
              renderExpanded={(row, rows) => (
                <RowLinks group={answer.meta.group_by} rows={rows} row={row} />
              )}
            />
          </>
        )}
      </QueryPanel>
    </Flow>
  );
}

function Lost({ lost_ns: lost, total_ns: total }: RooflineTable["meta"]) {
  return lost === null ? null : (
    <p className="totals">{text.total(duration(lost), duration(total))}</p>
  );
}

/** From a row to the call that loses most, and to the view that says more of it. */
function RowLinks({ group, rows, row }: { group: string; rows: Rows; row: number }) {
  const name = textAt(rows, "name", row);
  const event = numberAt(rows, "worst_row", row);
  const start = numberAt(rows, "worst_start_ns", row);
  const length = numberAt(rows, "worst_ns", row);
  const isOperator = PICKED[group] === "op" && !name.startsWith("(");
  return (
    <div className="row">
      {event !== null && start !== null && length !== null && (
        <Button onClick={() => showInTrace({ start_ns: start, duration_ns: length }, event)}>
          {text.worst(duration(length))}
        </Button>
      )}
      {isOperator && <ShowIn view="operators" select={{ kind: "op", name }} />}
    </div>
  );
}
