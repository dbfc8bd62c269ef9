/** Any number of traces: their figures in one table, and operators or kernels with a column for each trace. */
import { AnswerTable, ViewTable } from "../../answers/AnswerTable";
import {
  type ByNameWhat,
  type TraceScope,
  type TracesByName,
  type TracesTable,
  useTraces,
  useTracesByName,
} from "../../api";
import { count } from "../../format";
import { compareTexts } from "../../i18n";
import { Choice, PartialNotes } from "../../shell";
import { selectTrace, useAddress, useTrace } from "../../state";
import { rowCount, textAt } from "../../table";
import { QueryPanel, Segmented } from "../../ui";
import { byNameTable, MEASURES, SCOPES, titleOf } from "./many";
import { params } from "./params";
import { TrendsPanel } from "./TrendsPanel";

const text = compareTexts.many;
const WHATS: readonly ByNameWhat[] = ["operators", "kernels"];

export function Many() {
  const { sel } = useTrace();
  const [of] = useAddress(params.scope);
  const query = useTraces(sel, of);
  const scope = <Choice param={params.scope} label={text.scope} names={text.scopes} of={SCOPES} />;
  return (
    <>
      <QueryPanel
        title={text.title}
        help={text.help}
        actions={scope}
        query={query}
        empty={(answer) =>
          rowCount(answer) === 0 ? { title: text.empty, reason: text.emptyReason } : null
        }
      >
        {(answer) => <Traces answer={answer} />}
      </QueryPanel>
      <TrendsPanel of={of} />
      <ByName of={of} />
    </>
  );
}

function Traces({ answer }: { answer: TracesTable }) {
  const { sel } = useTrace();
  return (
    <>
      <PartialNotes notes={answer.meta.notes} />
      <ViewTable
        id="compare-traces"
        label={text.title}
        table={answer}
        nameKey="trace"
        filter={params.filter}
        sort={params.sort}
        selected={sel && titleOf(answer, sel)}
        onSelect={(row) =>
          selectTrace({
            run: textAt(answer.rows, "run", row),
            worker: textAt(answer.rows, "worker", row),
            span: textAt(answer.rows, "span", row),
          })
        }
      />
    </>
  );
}

function ByName({ of }: { of: TraceScope }) {
  const { sel } = useTrace();
  const [what] = useAddress(params.what);
  const measures = MEASURES[what];
  const [wantedMeasure, setMeasure] = useAddress(params.manyMeasure);
  const measure = measures.find((each) => each === wantedMeasure) ?? measures[0] ?? "";
  const query = useTracesByName(sel, of, what, measure);
  return (
    <QueryPanel
      title={text.byName}
      help={text.byNameHelp}
      actions={
        <>
          <Choice param={params.what} label={text.what} names={text.whats} of={WHATS} />
          <Segmented
            label={text.measure}
            value={measure}
            options={measures}
            names={text.measures}
            onChange={setMeasure}
          />
        </>
      }
      query={query}
      empty={(answer) =>
        rowCount(answer) === 0
          ? { title: compareTexts.tables.none, reason: text.nothingOf[what] }
          : null
      }
    >
      {(answer) => <Names answer={answer} />}
    </QueryPanel>
  );
}

function Names({ answer }: { answer: TracesByName }) {
  const { what, per, left_out: leftOut, traces } = answer.meta;
  return (
    <>
      <p className="totals">
        {text.per[per]}
        {leftOut > 0 && ` ${text.leftOut(count(traces.length), count(leftOut))}`}
      </p>
      <AnswerTable
        id={`compare-traces-${what}`}
        label={text.byName}
        answer={answer}
        shape={byNameTable}
        filter={params.namesFilter}
        sort={params.namesSort}
        kind={what === "operators" ? "op" : "kernel"}
      />
    </>
  );
}
