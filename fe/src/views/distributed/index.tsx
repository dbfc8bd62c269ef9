/** How well the ranks of a run work together: who is slow, why, what it costs, and how fast the links are. */
import { useMemo } from "react";
import { hasNoRanks, type RanksOverview, useRanksQuery, useStatus } from "../../api";
import { ranksTexts, distributedTexts as text } from "../../i18n";
import { PartialNotes } from "../../shell";
import { selectTrace, useAddress, useTrace } from "../../state";
import { Async, Button, Empty, Flow, Panel, Section, SectionBar } from "../../ui";
import { Answer } from "./Answer";
import { Collectives, SizeAndBandwidth } from "./Collectives";
import { Details, MOST_AT_ONCE } from "./Details";
import { showStep } from "./go";
import { HeatMapPanel } from "./HeatMap";
import { params } from "./params";
import { RangesOfRanks } from "./RangesOfRanks";
import { RanksTable } from "./RanksTable";
import { RunAnswer } from "./RunAnswer";
import { RunTiles } from "./RunTiles";
import { Missing, Stragglers } from "./Stragglers";
import { Experts, Layout, Pipeline, Representatives, Shards } from "./Structure";
import { named } from "./sentence";
import "../../ui/lines.css";
import "./distributed.css";

const { sections } = ranksTexts;

export default function Distributed() {
  const { sel } = useTrace();
  const query = useRanksQuery("ranks", sel);
  const status = useStatus().data;
  // Not an error: the program did not communicate. Where that is known nothing is asked.
  const without = sel !== null && hasNoRanks(status, sel.run, sel.span);
  if (without || (query.error?.status === 404 && query.data === undefined)) {
    return (
      <Panel title={text.overlap}>
        <Empty title={text.empty} reason={text.emptyReason} remedy={text.emptyRemedy} />
      </Panel>
    );
  }
  return <Async query={query}>{(answer) => <Content answer={answer} />}</Async>;
}

function Content({ answer }: { answer: RanksOverview }) {
  const { sel } = useTrace();
  const [step, setStep] = useAddress(params.step);
  const { tiles, ranks, steps, pipeline } = answer;
  const slow = useMemo(() => new Set(named(answer).map(({ worker }) => worker)), [answer]);
  const worker = sel?.worker ?? null;
  const shown = step !== null && steps.includes(step) ? step : null;
  const many = tiles.present > 1;
  const shownSections = (["stragglers", "pipeline", "collectives", "layout", "tables"] as const)
    .filter((id) => (id === "stragglers" ? many : id === "pipeline" ? pipeline : true))
    .map((id) => ({ id, name: sections[id] }));
  return (
    <Flow className="distributed">
      <Answer answer={answer} />
      <PartialNotes notes={answer.notes} />
      <RunTiles answer={answer} />
      <SectionBar label={sections.label} sections={shownSections} />
      {many && (
        <>
          <Section id="stragglers" name={sections.stragglers} />
          <Stragglers answer={answer} />
          <HeatMapPanel
            ranks={ranks}
            steps={steps}
            metrics={answer.metrics}
            step={shown}
            selected={worker}
            onPick={(next, name) => {
              setStep(name);
              selectTrace({ worker: next });
            }}
          />
          {worker !== null && shown !== null && (
            <p className="run-chosen">
              <Button onClick={() => showStep(worker, shown)}>{text.chosen(worker, shown)}</Button>
            </p>
          )}
        </>
      )}
      {many && tiles.present <= MOST_AT_ONCE && <RunAnswer />}
      <Missing items={answer.missing} />
      {answer.representatives.length * 2 <= tiles.present && (
        <Representatives representatives={answer.representatives} />
      )}
      {pipeline && (
        <>
          <Section id="pipeline" name={sections.pipeline} />
          <Pipeline pipeline={pipeline} />
        </>
      )}
      <Section id="collectives" name={sections.collectives} />
      <Collectives answer={answer} />
      <SizeAndBandwidth answer={answer} />
      <Section id="layout" name={sections.layout} />
      <Layout answer={answer} />
      <Experts answer={answer} />
      <Shards answer={answer} />
      <Section id="tables" name={sections.tables} />
      <RanksTable answer={answer} />
      {many && <RangesOfRanks step={shown} />}
      <Details ranks={tiles.present} slow={slow} />
    </Flow>
  );
}
