/** Which kernels take the device's time. */
import { ComparedPanel } from "../../answers/AnswerTable";
import { LargestBars, LargestDonut } from "../../answers/Largest";
import { type KernelsTable, type Result, type TraceKey, tables, useTable } from "../../api";
import { TopNControl } from "../../charts";
import { kernelColor } from "../../draw/parts";
import { duration } from "../../format";
import { noteText, kernelsTexts as text } from "../../i18n";
import { Choice } from "../../shell";
import { useAddress, useTrace } from "../../state";
import { type Rows, rowCount, textAt } from "../../table";
import { Empty, Flow, Panel, QueryPanel } from "../../ui";
import { ByOperator } from "./ByOperator";
import { CopiesPanel } from "./CopiesPanel";
import { kernelTable } from "./columns";
import { params } from "./params";
import { TensorShare } from "./TensorShare";
import "../../ui/lines.css";
import "./kernels.css";

export default function Kernels() {
  const { sel } = useTrace();
  const query = useTable(tables.kernels(sel));
  if (query.data && rowCount(query.data) === 0) return <NoKernels answer={query.data} />;
  return (
    <Flow>
      <div className="kernels-top beside">
        <LargestPanel query={query} />
        <QueryPanel title={text.tensor} help={text.tensorHelp} query={query}>
          {(answer) => <TensorShare meta={answer.meta} />}
        </QueryPanel>
      </div>
      <TablePanel />
      {query.data && <CopiesPanel {...query.data} />}
    </Flow>
  );
}

function NoKernels({ answer }: { answer: KernelsTable }) {
  const { meta } = answer;
  const note = meta.notes[0];
  return (
    <>
      <Panel title={text.table}>
        <Empty
          title={text.empty}
          reason={(note && noteText(note)) ?? text.emptyReason}
          remedy={note?.remedy ?? text.emptyRemedy}
        />
      </Panel>
      <CopiesPanel {...answer} />
    </>
  );
}

function LargestPanel({ query }: { query: Result<KernelsTable> }) {
  const [chart] = useAddress(params.chart);
  const [top, setTop] = useAddress(params.top);
  return (
    <QueryPanel
      title={text.largest}
      help={text.largestHelp}
      query={query}
      actions={
        <>
          <Choice param={params.chart} label={text.chart} names={text} />
          <TopNControl value={top} onChange={setTop} />
        </>
      }
    >
      {(answer) => {
        const props = {
          title: text.largest,
          answer,
          tableOf: tables.kernels,
          column: "total_ns",
          top,
          kind: "kernel",
        } as const;
        return chart === "bars" ? (
          <LargestBars
            {...props}
            color={color}
            whole={answer.meta.kernel_ns}
            sentence={text.sentence}
          />
        ) : (
          // Kernels of one kind have one colour, which slices beside each other cannot have.
          <LargestDonut {...props} />
        );
      }}
    </QueryPanel>
  );
}

function color(rows: Rows, row: number) {
  return kernelColor(textAt(rows, "kind", row));
}

function TablePanel() {
  const [group] = useAddress(params.group);
  return (
    <ComparedPanel
      id="kernels"
      title={text.table}
      tableOf={(sel: TraceKey | null) => tables.kernels(sel, group)}
      shape={kernelTable}
      filter={params.filter}
      sort={params.sort}
      kind="kernel"
      actions={() => (
        <Choice labelled param={params.group} label={text.group} names={text.groups} />
      )}
      renderExpanded={(row, rows, gone) => (
        <>
          <p className="kernel-name">{textAt(rows, "name", row)}</p>
          {gone ?? <ByOperator name={textAt(rows, "name", row)} />}
        </>
      )}
    >
      {({ meta }) => <p className="totals">{text.total(duration(meta.kernel_ns))}</p>}
    </ComparedPanel>
  );
}
