/** What is slower than in another trace, and where. */
import {
  reportMade,
  type Status,
  type TraceStatus,
  useChange,
  useCompare,
  useStatus,
} from "../../api";
import { bytes, fraction } from "../../format";
import { compareTexts, reasonText } from "../../i18n";
import { Choice, traceProgress, traceTitle } from "../../shell";
import {
  baselineKey,
  change,
  type FoundTrace,
  likeness,
  sameTraceName,
  setAddress,
  useAddress,
  useTrace,
} from "../../state";
import { Button, Empty, Flow, Missing, Panel, ProgressBar, Section, SectionBar } from "../../ui";
import { ChangePanel } from "./ChangePanel";
import { whyRefused } from "./change";
import { useLook } from "./look";
import { Many } from "./ManyTraces";
import { openPath } from "./open";
import { Choose, Pickers } from "./Pickers";
import { EVERYTHING, params } from "./params";
import { RooflinePanel } from "./RooflinePanel";
import { Names, Parts } from "./Tables";
import { Timeline } from "./Timeline";
import { Whole } from "./Whole";
import { WorkPanel } from "./WorkPanel";
import "../../ui/lines.css";
import "./compare.css";

const text = compareTexts.states;
const { sections } = compareTexts;
const SECTIONS = (["change", "order", "tables"] as const).map((id) => ({ id, name: sections[id] }));

export default function Compare() {
  const [howMany] = useAddress(params.howMany);
  return (
    <>
      <div className="compare-how-many">
        <Choice
          param={params.howMany}
          label={compareTexts.many.howMany}
          names={compareTexts.many}
          onChange={showHowMany}
        />
      </div>
      {howMany === "many" ? <Many /> : <Two />}
    </>
  );
}

/** Filters and orders were those of other tables. */
function showHowMany(next: "two" | "many"): void {
  setAddress(
    change(params.howMany, next),
    change(params.filter, ""),
    change(params.sort, ""),
    change(params.namesFilter, ""),
    change(params.namesSort, ""),
    change(params.kernelsOrTrendsFilter, ""),
    change(params.kernelsOrTrendsSort, ""),
  );
}

function Two() {
  const status = useStatus().data;
  const { sel, comparison } = useTrace();
  const baseline = comparison.set ?? comparison.suggested;
  if (!status || !sel) return null;
  if (!baseline) {
    const usable = status.runs.flatMap(({ traces }) =>
      traces.filter(({ kind, state }) => kind === "trace" && state !== "failed"),
    );
    return usable.length > 1 ? <Choose status={status} /> : <Single status={status} />;
  }
  return (
    <>
      <Pickers baseline={baseline} />
      {sameTraceName(baseline.name, sel) ? (
        <Panel title={compareTexts.headline.title}>
          <Empty title={text.itself} reason={text.itselfReason} />
        </Panel>
      ) : baseline.trace.state !== "ready" ? (
        <Panel title={compareTexts.headline.title}>
          <NotReady trace={baseline.trace} title={traceTitle(status, baseline.name)} />
        </Panel>
      ) : (
        <Compared baseline={baseline} />
      )}
    </>
  );
}

function Single({ status }: { status: Status }) {
  if (reportMade() !== null) {
    return (
      <Panel title={compareTexts.pickers.title} help={compareTexts.pickers.help}>
        <Missing words={text.singleInReport} />
      </Panel>
    );
  }
  const failed = status.runs.some((run) => run.traces.some(({ state }) => state === "failed"));
  return (
    <Panel title={compareTexts.pickers.title} help={compareTexts.pickers.help}>
      <Empty
        title={failed ? text.singleReadable : text.single}
        reason={text.singleReason}
        remedy={text.singleRemedy(status.logdir)}
      />
    </Panel>
  );
}

function NotReady({ trace, title }: { trace: TraceStatus; title: string }) {
  if (trace.state === "failed") {
    return (
      <div className="state error" role="alert">
        <strong>{text.failedTitle(title)}</strong>
        <span>{reasonText(trace.reason ?? "", trace.why)}</span>
        <span>{text.failedHelp}</span>
      </div>
    );
  }
  const progress = traceProgress(trace);
  return (
    <div className="state" role="status">
      <strong>{text.loadingTitle(title)}</strong>
      <span className="num">
        {trace.state === "queued" || progress === null
          ? text.queued
          : text.loading(fraction(progress, 0), bytes(trace.bytes_done), bytes(trace.bytes_total))}
      </span>
      <ProgressBar value={progress} label={text.loadingTitle(title)} />
    </div>
  );
}

function Compared({ baseline: { name, trace: before } }: { baseline: FoundTrace }) {
  const { sel, trace: after } = useTrace();
  const [path] = useAddress(params.part);
  const key = sel && baselineKey(name, sel);
  const versions = [before, after].map(versionOf).join(" ");
  const query = useCompare(key, sel, path, versions);
  const changed = useChange(key, sel, versions);
  const look = useLook(query.data);
  const unlike = after !== null && likeness(before, after) === 0;

  if (!sel || !key) return null;

  if (query.error?.status === 404 && path !== EVERYTHING) {
    return (
      <Panel title={compareTexts.timeline.title}>
        <Empty title={text.noPart} reason={text.noPartReason} />
        <p className="compare-back">
          <Button onClick={() => openPath(EVERYTHING)}>{text.showAll}</Button>
        </p>
      </Panel>
    );
  }
  return (
    <Flow>
      <SectionBar label={sections.label} sections={SECTIONS} />
      <Section id="change" name={sections.change} />
      <ChangePanel
        query={changed}
        unlike={unlike}
        whole={<Whole baseline={key} experiment={sel} versions={versions} />}
      />
      {!(changed.data && whyRefused(changed.data, unlike).length > 0) && (
        <WorkPanel query={changed} />
      )}
      <Section id="order" name={sections.order} />
      <Timeline query={query} look={look} />
      <Section id="tables" name={sections.tables} />
      <Parts query={query} look={look} />
      <Names of="operators" query={query} look={look} />
      <Names of="kernels" query={query} look={look} />
      <RooflinePanel baseline={key} experiment={sel} versions={versions} />
    </Flow>
  );
}

function versionOf(trace: TraceStatus | null): string {
  return trace ? `${trace.file} ${trace.size}` : "";
}
