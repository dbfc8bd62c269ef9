/** Time by phase: of the average step, of each step, of each backward pass, of each optimizer. */

import { useMemo } from "react";
import { type Phase, type Phases, useTraceQuery } from "../../api";
import { StackedBars } from "../../charts";
import { partColor, phaseName, phasePart } from "../../draw/parts";
import { bytes, duration, equals, exact, fraction, inOneUnit } from "../../format";
import { partsTexts, textFor } from "../../i18n";
import { program as text } from "../../i18n/en/program";
import { Choice } from "../../shell";
import { showInTrace } from "../../shell/findings";
import { useAddress, useTrace } from "../../state";
import {
  type Column,
  described,
  firstRows,
  type ListColumn,
  ListTable,
  rowCount,
  SimpleTable,
  textAt,
} from "../../table";
import { Button, Empty, Link, Panel, PartsBar, QueryPanel, Swatch } from "../../ui";
import { params } from "./params";
import { PHASE_LANE } from "./phaseLane";
import { phaseSentence } from "./phaseSentence";
import { showRanges } from "./Ranges";

/** Backward passes in the table. */
const MOST_PASSES = 50;

/** The filter for the ranges that torch writes around steps of an optimizer, here by its class and its turn. */
const rangeOf = (optimizer: string) =>
  equals("name", `Optimizer.step#${optimizer.replace(/ \d+$/, "")}.step`);

export function PhasePanels() {
  const { sel } = useTrace();
  const [time] = useAddress(params.time);
  const [wanted] = useAddress(params.phase);
  const phase = wanted in partsTexts.phases ? (wanted as Phase) : null;
  const query = useTraceQuery("phases", sel, { phase });
  return (
    <>
      <QueryPanel title={text.question} help={text.questionHelp} query={query}>
        {(answer) => <Average answer={answer} picked={phase} />}
      </QueryPanel>
      {query.data && query.data.phases.length > 0 && (
        <Panel
          title={text.steps}
          help={text.times[time].help}
          actions={
            <Choice
              labelled
              param={params.time}
              label={text.time}
              names={TIMES}
              of={timesOf(query.data)}
            />
          }
        >
          <Steps answer={query.data} time={time} />
        </Panel>
      )}
      {query.data && <Passes answer={query.data} />}
    </>
  );
}

const TIMES = {
  exposed: text.times.exposed.name,
  host: text.times.host.name,
  device: text.times.device.name,
};

function timesOf({ meta }: Phases) {
  const times = params.time.words;
  return meta.device_type === "GPU" ? times : times.filter((time) => time !== "device");
}

/** What rounds to nothing is not told. */
const TOLD_SHARE = 0.001;

type PhaseRow = Phases["phases"][number];

interface AverageProps {
  readonly answer: Phases;
  readonly picked: Phase | null;
}

function Average({ answer, picked }: AverageProps) {
  const { phases, recompute, per_step: passes, inferred } = answer;
  if (phases.length === 0)
    return <Empty title={text.none} reason={text.noneReason} remedy={text.noneRemedy} />;
  const total = phases.reduce((sum, each) => sum + each.exposed_ns, 0);
  const accumulates = passes.some((count) => count > 1);
  return (
    <>
      <p className="lead">
        {phaseSentence(phases)}
        {recompute.exposed !== null &&
          recompute.exposed > 0 &&
          ` ${text.recomputes(fraction(recompute.exposed))}`}
        {accumulates && ` ${text.accumulates(range(passes))}`}
        {inferred !== null && inferred >= TOLD_SHARE && ` ${text.inferred(fraction(inferred))}`}
      </p>
      <PartsBar
        parts={phases.map(({ name, exposed_ns: ns }) => ({
          key: name,
          color: partColor(phasePart(name)),
          size: ns,
          title: `${phaseName(name)}: ${fraction(ns / total)}`,
        }))}
      />
      <PhaseTable answer={answer} total={total} picked={picked} />
      <Peaks answer={answer} />
      <Linked answer={answer} />
      {picked && <Stretches answer={answer} phase={picked} />}
    </>
  );
}

interface PhaseTableProps extends AverageProps {
  readonly total: number;
}

function PhaseTable({ answer: { phases, meta }, total, picked }: PhaseTableProps) {
  const [, setPhase] = useAddress(params.phase);
  const time = inOneUnit(
    "ns",
    phases.flatMap((each) => [each.exposed_ns, each.host_ns, each.device_ns]),
  );
  const size = inOneUnit(
    "bytes",
    phases.map((each) => each.allocated_bytes),
  );
  const ofDevice: ListColumn<PhaseRow>[] = [
    {
      label: text.times.device.name,
      help: text.times.device.help,
      cell: (phase) => time(phase.device_ns),
    },
    {
      label: text.communication,
      help: text.communicationHelp,
      cell: (phase) => time(phase.communication_ns),
    },
  ];
  return (
    <ListTable
      caption={text.average}
      rows={phases}
      isPicked={({ name }) => name === picked}
      columns={[
        {
          label: text.phase,
          cell: ({ name }) => (
            <>
              <Swatch color={partColor(phasePart(name))} />
              <Link
                aria-pressed={name === picked}
                onClick={() => setPhase(name === picked ? "" : name)}
              >
                {phaseName(name)}
              </Link>
            </>
          ),
          title: ({ name }) => text.phaseHelp[name],
        },
        {
          label: text.times.exposed.name,
          help: text.times.exposed.help,
          cell: (phase) => time(phase.exposed_ns),
          title: (phase) => exact(phase.exposed_ns, "ns"),
        },
        {
          label: text.share,
          help: text.shareHelp,
          cell: (phase) => fraction(phase.exposed_ns / total),
        },
        {
          label: text.times.host.name,
          help: text.times.host.help,
          cell: (phase) => time(phase.host_ns),
        },
        {
          label: text.inferredName,
          help: text.inferredHelp,
          cell: ({ host_ns: host, inferred_ns: inferred }) =>
            host > 0 ? fraction(inferred / host) : "–",
        },
        ...(meta.device_type === "GPU" ? ofDevice : []),
        {
          label: text.allocated,
          help: text.allocatedHelp,
          cell: (phase) => size(phase.allocated_bytes),
        },
      ]}
    />
  );
}

/** What the program did when most memory was in use. */
function Peaks({ answer }: { answer: Phases }) {
  const onDevice = answer.peaks.filter(({ device }) => device !== "CPU");
  const peaks = onDevice.length > 0 ? onDevice : answer.peaks;
  if (peaks.length === 0) return null;
  return (
    <p className="program-linked">
      {peaks.map((each) => (
        <Link
          key={each.device}
          onClick={() => showInTrace({ start_ns: each.time_ns, duration_ns: 0 }, null)}
        >
          {text.peak(each.device, bytes(each.bytes), phaseName(each.phase))}
        </Link>
      ))}
    </p>
  );
}

/** Which part of the backward pass is linked to its forward, and why the rest is not. */
function Linked({ answer: { backward, meta } }: { answer: Phases }) {
  const share = (link: string) => {
    const found = backward.find((each) => each.link === link);
    return (meta.device_type === "GPU" ? found?.device : found?.host) ?? found?.host ?? 0;
  };
  if (backward.length === 0) return null;
  const rest = (["script", "no_number", "no_forward"] as const).filter((link) => share(link) > 0);
  return (
    <p className="muted program-linked">
      {text.linked(fraction(share("linked")))}
      {rest.map((link) => ` ${text.unlinked[link](fraction(share(link)))}`)}
    </p>
  );
}

/** `4`, or `3–4` where steps differ. */
function range(counts: readonly number[]): string {
  const [least, most] = [Math.min(...counts), Math.max(...counts)];
  return least === most ? `${most}` : `${least}–${most}`;
}

function Stretches({ answer, phase }: { answer: Phases; phase: Phase }) {
  return (
    <div className="program-stretches">
      <h3>{text.stretches(phaseName(phase))}</h3>
      {answer.stretches.length === 0 ? (
        <p className="muted">{text.noStretches}</p>
      ) : (
        <ul>
          {answer.stretches.map((each) => (
            <li key={each.start_ns}>
              <Button onClick={() => showInTrace(each, null, PHASE_LANE)}>
                {text.stretch(duration(each.duration_ns), each.step ?? "–")}
              </Button>{" "}
              <span className="muted">{textFor(partsTexts.evidence, each.evidence)}</span>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function Steps({ answer, time }: { answer: Phases; time: "exposed" | "host" | "device" }) {
  const series = answer.phases.map(({ name }) => ({
    key: name,
    label: phaseName(name),
    values: answer.step_phases[time][name] ?? [],
    color: partColor(phasePart(name)),
  }));
  return (
    <StackedBars
      title={`${text.steps}: ${text.times[time].name}`}
      x={answer.steps}
      xLabel={text.step}
      series={series.filter(({ values }) => values.some((value) => value > 0))}
      mode="absolute"
      unit="ns"
      height={240}
    />
  );
}

function Passes({ answer }: { answer: Phases }) {
  const { micro_batches: batches, optimizers, steps, meta } = answer;
  const onDevice = meta.device_type === "GPU";
  const table = useMemo(() => {
    const { columns, rows } = firstRows(batches, MOST_PASSES);
    const named = (rows.step ?? []).map((step) => steps[Number(step)] ?? "");
    return {
      columns: ofDevice(described(columns, { step: { type: "string", unit: null } }), onDevice),
      rows: { ...rows, step: named },
    };
  }, [batches, steps, onDevice]);
  const used = useMemo(
    () => ({ ...optimizers, columns: ofDevice(optimizers.columns, onDevice) }),
    [optimizers, onDevice],
  );
  const count = rowCount(batches);
  if (count === 0 && rowCount(optimizers) === 0) return null;
  return (
    <Panel title={text.passes} help={text.passesHelp}>
      {count > 0 && (
        <SimpleTable
          caption={text.passesCaption(Math.min(count, MOST_PASSES), count)}
          table={table}
          doorOf={(row) => () => {
            const at = (key: string) => Number(batches.rows[key]?.[row] ?? 0);
            showInTrace(
              { start_ns: at("start_ns"), duration_ns: at("backward_ns") },
              null,
              PHASE_LANE,
            );
          }}
        />
      )}
      {rowCount(optimizers) > 0 && (
        <SimpleTable
          caption={text.optimizers}
          table={used}
          doorOf={(row) => () => showRanges(rangeOf(textAt(used.rows, "name", row)))}
        />
      )}
    </Panel>
  );
}

/** Times of devices only where there are any. */
function ofDevice(columns: readonly Column[], onDevice: boolean): readonly Column[] {
  return columns.filter(({ key }) => onDevice || !key.endsWith("device_ns"));
}
