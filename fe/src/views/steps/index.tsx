/** Which steps are slow, and what makes them so. */
import { useMemo } from "react";
import { ViewTable } from "../../answers/AnswerTable";
import { type Overview, type Steps as StepTimes, useOverview } from "../../api";
import { StackedBars } from "../../charts";
import { type ColumnSeries, Columns, largestFirst, rangeWithin } from "../../charts/stackedColumns";
import { count, duration, inOneUnit } from "../../format";
import { categoryName, stepsTexts as text } from "../../i18n";
import { Choice, PartialNotes, StepChoice } from "../../shell";
import { CategoryPanel } from "../../shell/doors";
import { Verdict } from "../../shell/findings";
import { change, setAddress, useAddress, usePicked, useStepParams, useTrace } from "../../state";
import { Async, categoryColor, Empty, Flow, Panel } from "../../ui";
import { stepTable } from "./columns";
import { histogramOf, MORE_THAN } from "./histogram";
import { Outliers } from "./OutlierPanel";
import { cause, outliers, type Usual, usualStep } from "./outliers";
import { params } from "./params";
import { ALL_STEPS, Tiles } from "./Tiles";
import "../../ui/lines.css";
import "./steps.css";

const ORDERS = { time: text.byTime, duration: text.byDuration };

export default function Steps() {
  const { sel } = useTrace();
  const query = useOverview(sel);
  return (
    <>
      <StepChoice steps={query.data?.steps} stale={query.isPlaceholderData} />
      <Async query={query}>{(answer) => <Content answer={answer} />}</Async>
    </>
  );
}

function Content({ answer: { steps, meta } }: { answer: Overview }) {
  const usual = useMemo(() => usualStep(steps), [steps]);
  const slow = useMemo(() => outliers(steps, usual), [steps, usual]);
  const [{ rule }] = useStepParams();
  if (usual === null) {
    return (
      <Panel title={text.chart}>
        <Empty title={text.empty} reason={text.emptyReason} remedy={text.remedy} />
      </Panel>
    );
  }
  return (
    <Flow className="steps">
      <PartialNotes notes={meta.notes} />
      {steps.rule === "whole_trace" && rule === null ? (
        <Empty title={text.one} reason={text.wholeTrace} remedy={text.remedy} />
      ) : (
        steps.names.length === 1 && <p className="muted">{text.one}</p>
      )}
      <Verdict />
      <Sentence steps={steps} usual={usual} slow={slow} />
      <Tiles steps={steps} usual={usual} slow={slow} />
      <Shown steps={steps} usual={usual} slow={slow} />
    </Flow>
  );
}

interface ShownProps {
  readonly steps: StepTimes;
  readonly usual: Usual;
  readonly slow: readonly boolean[];
}

/** How long steps take, and what makes the longest so long. */
function Sentence({ steps, usual, slow }: ShownProps) {
  const longest = largestFirst(steps.duration_ns)[0] ?? 0;
  const because = cause(steps, usual, longest);
  return (
    <p>
      {text.sentence(
        count(steps.names.length),
        duration(usual.duration_ns),
        steps.names[longest] ?? "",
        duration(steps.duration_ns[longest] ?? 0),
        slow[longest] && because
          ? text.because(categoryName(because.category), duration(because.ns))
          : "",
      )}
    </p>
  );
}

/** The chart, and the table of what it shows. */
function Shown({ steps, usual, slow }: ShownProps) {
  const [mode] = useAddress(params.mode);
  const [by] = useAddress(params.order);
  const [wanted] = useAddress(params.range);
  const [category, setCategory] = useAddress(params.category);
  const [selected, setSelected] = usePicked();
  const order = useMemo(
    () =>
      by === "duration" ? largestFirst(steps.duration_ns) : steps.names.map((_, step) => step),
    [steps, by],
  );
  const range = useMemo(() => rangeWithin(wanted, order.length), [wanted, order.length]);
  // In order of time also where the chart has another order: the table has its own.
  const rows = useMemo(
    () => order.slice(range?.from ?? 0, range?.to).toSorted((a, b) => a - b),
    [order, range],
  );
  const at = selected?.kind === "step" ? steps.names.indexOf(selected.name) : -1;
  const step = at < 0 ? null : at;
  const select = (index: number) =>
    setSelected({ kind: "step", name: steps.names[index] ?? String(index) });
  return (
    <>
      <StepChart
        steps={steps}
        slow={slow}
        order={order}
        range={range}
        step={step}
        onPick={select}
      />
      {steps.names.length > MORE_THAN && <HistogramPanel steps={steps} slow={slow} />}
      <CategoryPanel
        category={category}
        step={step === null ? null : (steps.names[step] ?? null)}
        onClose={() => setCategory("")}
      />
      <Outliers steps={steps} usual={usual} slow={slow} onPick={select} />
      <div id={ALL_STEPS.id}>
        <Panel title={text.table}>
          {range && (
            <p className="muted steps-shown">
              {text.tableShown(count(range.to - range.from), count(order.length))}
            </p>
          )}
          <StepRows steps={steps} usual={usual} slow={slow} mode={mode} rows={rows} />
        </Panel>
      </div>
    </>
  );
}

interface ChartProps extends Pick<ShownProps, "steps" | "slow"> {
  readonly order: readonly number[];
  readonly range: ReturnType<typeof rangeWithin>;
  /** The one that is picked. */
  readonly step: number | null;
  readonly onPick: (step: number) => void;
}

function StepChart({ steps, slow, order, range, step, onPick }: ChartProps) {
  const [mode] = useAddress(params.mode);
  const [, setRange] = useAddress(params.range);
  const series = useMemo(() => seriesOf(steps), [steps]);
  return (
    <Panel
      title={text.chart}
      help={text.chartHelp}
      actions={
        <>
          <Choice
            labelled
            param={params.order}
            label={text.order}
            names={ORDERS}
            // Positions mean other steps in another order.
            onChange={(next) => setAddress(change(params.order, next), change(params.range, null))}
          />
          <Choice param={params.mode} label={text.mode} names={text} />
        </>
      }
    >
      <Columns
        title={text.chart}
        unit="ns"
        xLabel={text.step}
        what={text.what}
        names={steps.names}
        details={(index) => steps.labels[index] ?? null}
        series={series}
        mode={mode}
        order={order}
        range={range}
        onRange={setRange}
        selected={step}
        flagged={slow}
        onPick={onPick}
      />
    </Panel>
  );
}

/** How many steps take how long; a click on a bar shows these steps in the chart, ordered by duration. */
function HistogramPanel({ steps, slow }: Pick<ShownProps, "steps" | "slow">) {
  const { from, isOpen, bin, width } = useMemo(() => histogramOf(steps.duration_ns), [steps]);
  const time = useMemo(() => inOneUnit("ns", from), [from]);
  const x = useMemo(
    () => from.map((ns, at) => (isOpen && at === from.length - 1 ? `≥ ${time(ns)}` : time(ns))),
    [from, isOpen, time],
  );
  const series = useMemo(() => {
    const of = (isSlow: boolean) =>
      from.map((_, at) => bin.filter((each, step) => each === at && slow[step] === isSlow).length);
    return [
      { key: "usual", label: text.usualSteps, color: "var(--series-1)", values: of(false) },
      { key: "slow", label: text.outliers, color: "var(--worse)", values: of(true) },
    ];
  }, [from, bin, slow]);
  const show = (at: number) => {
    const first = bin.filter((each) => each > at).length;
    const end = first + bin.filter((each) => each === at).length;
    if (end > first)
      setAddress(change(params.order, "duration"), change(params.range, { from: first, to: end }));
  };
  return (
    <Panel title={text.histogram} help={text.histogramHelp(duration(width))}>
      <StackedBars
        title={text.histogram}
        unit="count"
        x={x}
        xLabel={text.histogramFrom}
        series={series}
        mode="absolute"
        height={240}
        onPick={show}
      />
    </Panel>
  );
}

interface RowsProps extends ShownProps {
  readonly mode: "absolute" | "percent";
  readonly rows: readonly number[];
}

function StepRows({ steps, usual, slow, mode, rows }: RowsProps) {
  const definitions = useOverview(useTrace().sel).data?.definitions;
  const table = useMemo(
    () =>
      stepTable(steps, rows, {
        definitions,
        usual,
        slow,
        mode,
        remark: (step) => remark(steps, usual, step),
      }),
    [steps, definitions, usual, slow, mode, rows],
  );
  return (
    <ViewTable
      // Which columns are shown by default depends on the scale.
      id={mode === "percent" ? "steps-percent" : "steps"}
      key={mode}
      label={text.table}
      table={table}
      filter={params.filter}
      sort={params.sort}
      kind="step"
    />
  );
}

/** What makes a step longer: "DataLoader +59 ms". */
function remark(steps: StepTimes, usual: Usual, step: number): string {
  const found = cause(steps, usual, step);
  return found ? text.because(categoryName(found.category), duration(found.ns)) : "";
}

function seriesOf(steps: StepTimes): ColumnSeries[] {
  return steps.categories.map((category) => ({
    key: category,
    label: categoryName(category),
    color: categoryColor(category),
    values: steps.category_ns[category] ?? [],
  }));
}
