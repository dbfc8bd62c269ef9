/** How the program infers: figures of its steps by phase, gaps between them, kinds of kernels. */
import { type Inference, useTraceQuery } from "../../api";
import { StackedBars } from "../../charts";
import { phaseName } from "../../draw/parts";
import { count, decimal, duration, fraction } from "../../format";
import { program as text } from "../../i18n/en/program";
import { doorToMost, showInTrace } from "../../shell/findings/showInTrace";
import { useTrace } from "../../state";
import { numberAt, type Rows, rowCount, type Table, textAt } from "../../table";
import { Panel, Tile } from "../../ui";
import { Events, shownOf } from "./Events";
import { PHASE_LANE } from "./phaseLane";

/** Steps in the table. */
const MOST_STEPS = 100;
/** Kinds of kernels with a bar of their own. */
const MOST_KINDS = 8;

/** Renders nothing if the trace does not show inference. */
export function InferencePanels() {
  const { sel } = useTrace();
  const { data } = useTraceQuery("engine", sel);
  if (!data?.engine) return null;
  return <Shown answer={data} engine={data.engine} />;
}

interface ShownProps {
  readonly answer: Inference;
  readonly engine: NonNullable<Inference["engine"]>;
}

function Shown({ answer, engine }: ShownProps) {
  const { gaps } = answer;
  const steps = answer.steps ?? NO_STEPS;
  const total = rowCount(steps);
  const unknown = text.unknown;
  const { rows } = steps;
  return (
    <Panel title={text.inference} help={text.inferenceHelp}>
      <p className="lead">
        {text.engine(
          text.engines[engine.kind as keyof typeof text.engines] ?? engine.kind,
          text.hows[engine.how],
        )}
      </p>
      <dl className="tiles">
        {engine.steps.map((each) => (
          <Tile
            key={each.name}
            label={phaseName(each.name)}
            help={text.phaseHelp[each.name]}
            value={text.steps_(each.steps)}
            onOpen={doorToMost(rows, "host_ns", (row) => textAt(rows, "phase", row) === each.name)}
            facts={[
              [text.period, each.period_ns === null ? unknown : duration(each.period_ns)],
              ...(each.tokens === null ? [] : ([[text.tokens, count(each.tokens)]] as const)),
              ...(each.requests === null
                ? []
                : ([[text.requests, decimal(each.requests, 1)]] as const)),
            ]}
          />
        ))}
        <Tile
          label={text.tpot}
          help={text.tpotHelp}
          value={engine.tpot_ns === null ? unknown : duration(engine.tpot_ns)}
          onOpen={doorToMost(
            rows,
            "period_ns",
            (row) => (numberAt(rows, "generation", row) ?? 0) > 0,
          )}
        />
        <Tile
          label={text.rate}
          help={text.rateHelp}
          value={engine.tokens_per_second === null ? unknown : decimal(engine.tokens_per_second, 1)}
          onOpen={engine.tokens_per_second === null ? undefined : doorToAll(rows)}
        />
        <Tile
          label={text.gaps}
          help={text.gapsHelp}
          value={engine.gap_ns === null ? unknown : duration(engine.gap_ns)}
          onOpen={doorToMost(rows, "gap_ns")}
          facts={
            gaps
              ? (["sample", "schedule", "detokenise", "wait", "other"] as const)
                  .filter((kind) => gaps[`${kind}_ns`] > 0)
                  .map((kind) => [text.gapKinds[kind], duration(gaps[`${kind}_ns`])] as const)
              : []
          }
        />
        {engine.graph_share !== null && (
          <Tile
            label={text.inGraphs}
            help={text.inGraphsHelp}
            value={fraction(engine.graph_share)}
            onOpen={doorToMost(rows, "graph_ns")}
          />
        )}
      </dl>
      <Families families={answer.families} />
      <Events
        caption={text.engineSteps(Math.min(total, MOST_STEPS), total)}
        table={steps}
        shape={stepTable}
      />
    </Panel>
  );
}

/** From the first step to the last, in the trace by their phases. */
function doorToAll(rows: Rows): (() => void) | undefined {
  const starts = (rows.start_ns ?? []).map(Number);
  if (starts.length === 0) return undefined;
  const ends = starts.map((start, row) => start + (numberAt(rows, "host_ns", row) ?? 0));
  const [first, last] = [Math.min(...starts), Math.max(...ends)];
  return () => showInTrace({ start_ns: first, duration_ns: last - first }, null, PHASE_LANE);
}

function Families({ families }: { families: Inference["families"] }) {
  const phases = Object.keys(families);
  if (phases.length === 0) return null;
  const sums = new Map<string, number>();
  for (const kinds of Object.values(families))
    for (const [kind, ns] of Object.entries(kinds)) sums.set(kind, (sums.get(kind) ?? 0) + ns);
  const largest = [...sums].toSorted((a, b) => b[1] - a[1]).map(([kind]) => kind);
  const shown = largest.slice(0, MOST_KINDS);
  const rest = largest.slice(MOST_KINDS);
  const value = (phase: string, kinds: readonly string[]) =>
    kinds.reduce((sum, kind) => sum + (families[phase]?.[kind] ?? 0), 0);
  const series = shown.map((kind) => ({
    key: kind,
    label: kind,
    values: phases.map((phase) => value(phase, [kind])),
  }));
  if (rest.length > 0)
    series.push({
      key: "rest",
      label: text.otherKinds,
      values: phases.map((phase) => value(phase, rest)),
    });
  return (
    <StackedBars
      title={text.families}
      x={phases.map(phaseName)}
      xLabel={text.phase}
      series={series}
      mode="percent"
      unit="ns"
      height={220}
    />
  );
}

const NO_STEPS: Table = { columns: [], rows: {} };

function stepTable(steps: Table): Table {
  const { columns, rows } = shownOf(steps, MOST_STEPS, (cell) => cell !== null && cell !== 0);
  const named = (rows.phase ?? []).map((phase) => phaseName(String(phase)));
  return { columns, rows: { ...rows, phase: named } };
}
