/** The critical path of the steps, and how long they would take after a change. */
import { useMemo } from "react";
import {
  type CriticalPath as Path,
  type ResourceOnPath,
  reportMade,
  useTraceQuery,
} from "../../api";
import { Columns, rangeWithin } from "../../charts/stackedColumns";
import { duration, fraction, unbroken } from "../../format";
import { criticalpath as text } from "../../i18n/en/criticalpath";
import { Choice, PartialNotes } from "../../shell";
import { Verdict } from "../../shell/findings";
import { useAddress, useTrace } from "../../state";
import { Async, Empty, Flow, Panel, Swatch } from "../../ui";
import { Names } from "./Names";
import { Pieces } from "./Pieces";
import { params } from "./params";
import { bySaving, resourceColor, resourceInText, seriesOf } from "./parts";
import { Confidence, Refusals } from "./Quality";
import { Resources } from "./Resources";
import { WhatIf } from "./WhatIf";
import "../../ui/lines.css";
import "./criticalpath.css";

/** Smaller savings stand in the table alone. */
const TOLD_SHARE = 0.05;

export default function CriticalPath() {
  const query = useTraceQuery("critical_path", useTrace().sel);
  return <Async query={query}>{(answer) => <Content answer={answer} />}</Async>;
}

function Content({ answer }: { answer: Path }) {
  const { meta, steps, total_ns } = answer;
  const isReport = reportMade() !== null;
  if (total_ns === 0) {
    return (
      <Panel title={text.chart}>
        <Empty title={text.empty} reason={text.emptyReason} />
      </Panel>
    );
  }
  return (
    <Flow className="critical-path">
      <PartialNotes notes={meta.notes} />
      <Verdict>{text.related}</Verdict>
      <Answer answer={answer} />
      <Refusals meta={meta} />
      <StepsPanel steps={steps} />
      <Resources answer={answer} />
      {/* A report has no server to ask. */}
      {!isReport && <WhatIf path={answer} />}
      <Names answer={answer} />
      {!isReport && <Pieces steps={steps} />}
    </Flow>
  );
}

/** The question, and the answer in a sentence or two. */
export function Answer({ answer }: { answer: Path }) {
  const { largest, resources, total_ns, meta } = answer;
  const most = resources.find(({ resource }) => resource === largest);
  const [first, ...others] = bySaving(resources);
  const savers = others.filter(({ if_free }) => (if_free?.saved_ns ?? 0) >= TOLD_SHARE * total_ns);
  const known = resources.some(({ if_free }) => if_free?.refused === null);
  return (
    <section className="path-answer" aria-label={text.question}>
      <h2>{text.question}</h2>
      <Confidence meta={meta} />
      {most && (
        <p>
          <strong>
            <Swatch color={resourceColor((first ?? most).resource)} />
            {first ? unbroken(ifFree(first, answer)) : known && text.nothingSaves}
          </strong>{" "}
          {unbroken(
            [
              savers.length > 0 &&
                text.savesToo(savers.map((each) => saving(each, answer)).join(", ")),
              text.largest(
                resourceInText(most.resource),
                fraction(most.on_path_ns / answer.total_ns),
              ),
            ]
              .filter(Boolean)
              .join(" "),
          )}
        </p>
      )}
    </section>
  );
}

/** What a resource saves in a step if it takes no time, as time and share. */
function saved({ if_free }: ResourceOnPath, { steps, total_ns }: Path): [string, string] {
  const ns = if_free?.saved_ns ?? 0;
  return [duration(ns / steps.names.length), fraction(ns / total_ns)];
}

function saving(each: ResourceOnPath, path: Path): string {
  return text.saving(resourceInText(each.resource), ...saved(each, path));
}

function ifFree(first: ResourceOnPath, path: Path): string {
  const then =
    first.next === null
      ? text.noThen
      : text.limitsThen(resourceInText(first.next), fraction(first.next_share));
  return `${text.saves(resourceInText(first.resource), ...saved(first, path))}; ${then}`;
}

function StepsPanel({ steps }: { steps: Path["steps"] }) {
  const [mode] = useAddress(params.mode);
  const [step, setStep] = useAddress(params.step);
  const [wanted, setRange] = useAddress(params.range);
  const series = useMemo(() => seriesOf(steps), [steps]);
  const order = useMemo(() => steps.names.map((_, at) => at), [steps]);
  const range = useMemo(() => rangeWithin(wanted, order.length), [wanted, order.length]);
  const chosen = step === null ? -1 : steps.names.indexOf(step);
  return (
    <Panel
      title={text.chart}
      help={text.chartHelp}
      actions={<Choice param={params.mode} label={text.mode} names={text} />}
    >
      <Columns
        title={text.chart}
        unit="ns"
        xLabel={text.step}
        what={text.what}
        names={steps.names}
        series={series}
        mode={mode}
        order={order}
        range={range}
        onRange={setRange}
        selected={chosen < 0 ? null : chosen}
        onPick={(at) => setStep(steps.names[at] ?? null)}
      />
    </Panel>
  );
}
