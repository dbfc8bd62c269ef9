/** How well the ranks of a run work together: is communication hidden, who waits for whom. */
import { useMemo } from "react";
import { type Distributed as Answer, hasNoRanks, useDistributed, useStatus } from "../../api";
import { distributedTexts as text } from "../../i18n";
import { PartialNotes } from "../../shell";
import { change, selectTrace, setAddress, useAddress, useTrace } from "../../state";
import { inWords } from "../../table";
import { Async, Combo, Empty, Panel, Segmented } from "../../ui";
import { Charts } from "./Charts";
import { HeatMap } from "./HeatMap";
import { params } from "./params";
import { RunAnswer } from "./RunAnswer";
import { rankRows, stepNames } from "./ranks";
import { Remark, Tiles } from "./Summary";
import { straggler } from "./straggler";
import { Devices, Groups, Operations, Ranks } from "./TablePanels";
import "./distributed.css";

/** What the chooser calls all steps; no step is called so. */
const ALL = "*";
const ORDERS = [
  { value: "rank", label: text.byRank },
  { value: "slowest", label: text.bySlowest },
] as const;
const MODES = [
  { value: "absolute", label: text.absolute },
  { value: "percent", label: text.percent },
] as const;

export default function Distributed() {
  const { sel } = useTrace();
  const query = useDistributed(sel?.run ?? null, sel?.span ?? null);
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

function Content({ answer }: { answer: Answer }) {
  const { sel } = useTrace();
  const [wantedStep, setStep] = useAddress(params.step);
  const [order] = useAddress(params.order);
  const [mode, setMode] = useAddress(params.mode);
  const [range, setRange] = useAddress(params.range);
  const { workers, meta } = answer;
  const definitions = useMemo(() => answer.definitions.map(inWords), [answer.definitions]);
  const steps = useMemo(() => stepNames(workers), [workers]);
  // A step of another run means all.
  const step = steps.find((name) => name === wantedStep) ?? null;
  const rows = useMemo(() => rankRows(workers, step), [workers, step]);
  const last = useMemo(() => straggler(rows), [rows]);
  const without = rows.filter(({ numbers }) => numbers === null).length;
  const pick = (worker: string) => selectTrace({ worker });
  return (
    <div className="distributed">
      <PartialNotes notes={meta.notes} />
      {steps.length === 0 ? (
        <Panel title={text.overlap}>
          <Empty title={text.noSteps} reason={text.noStepsReason} />
        </Panel>
      ) : (
        <>
          {workers.length > 1 && <RunAnswer />}
          <section className="distributed-choice" aria-label={text.choice}>
            <Combo
              label={text.step}
              value={step ?? ALL}
              options={[
                { value: ALL, label: text.allSteps },
                ...steps.map((name) => ({ value: name, label: text.stepOption(name) })),
              ]}
              onChange={(next) => setStep(next === ALL ? null : next)}
            />
            {workers.length > 1 && (
              <Segmented
                labelled
                label={text.order}
                value={order}
                options={ORDERS}
                // Positions mean other ranks in another order.
                onChange={(next) =>
                  setAddress(change(params.order, next), change(params.range, null))
                }
              />
            )}
            <Segmented labelled label={text.mode} value={mode} options={MODES} onChange={setMode} />
            {without > 0 && <span className="muted">{text.stepMissing(String(without))}</span>}
          </section>
          <Tiles answer={answer} rows={rows} />
          <Remark
            ranks={rows.length}
            known={rows.filter(({ numbers }) => numbers?.wait_ns != null).length > 1}
            found={last}
            onPick={pick}
          />
          <Charts
            rows={rows}
            last={last?.row.worker.worker ?? null}
            definitions={definitions}
            order={order}
            mode={mode}
            range={range}
            onRange={setRange}
            selected={sel?.worker ?? null}
            onPick={pick}
          />
          {workers.length > 1 && steps.length > 1 && (
            <HeatMap
              workers={workers}
              steps={steps}
              step={step}
              selected={sel?.worker ?? null}
              onPick={(worker, name) => {
                setStep(name);
                pick(worker);
              }}
            />
          )}
          <Ranks rows={rows} definitions={definitions} onPick={pick} />
        </>
      )}
      <Operations answer={answer} worker={sel?.worker ?? null} />
      <Devices answer={answer} onPick={pick} />
      <Groups answer={answer} />
    </div>
  );
}
