/** The steps and operations of every rank. They grow with the number of ranks, so many ranks are fetched on demand. */
import { useMemo, useState } from "react";
import { type Distributed, useDistributed } from "../../api";
import { count } from "../../format";
import { ranksTexts, distributedTexts as text } from "../../i18n";
import { Choice, PartialNotes } from "../../shell";
import { change, setAddress, useAddress, useTrace } from "../../state";
import { inWords } from "../../table";
import { Async, Button, Combo, Flow, Panel } from "../../ui";
import { Charts } from "./Charts";
import { params } from "./params";
import { RunAnswer } from "./RunAnswer";
import { rankRows, stepNames } from "./ranks";
import { Devices, Operations } from "./TablePanels";

/** What the chooser calls all steps; no step is called so. */
const ALL = "*";
/** With more ranks the details are asked for by hand. */
export const MOST_AT_ONCE = 64;
const ORDERS = { rank: text.byRank, slowest: text.bySlowest };

interface Props {
  readonly ranks: number;
  /** Workers that are named as slow. */
  readonly slow: ReadonlySet<string>;
}

export function Details(props: Props) {
  const [opened, setOpened] = useState(false);
  const words = ranksTexts.details;
  if (opened || props.ranks <= MOST_AT_ONCE) return <Opened {...props} />;
  return (
    <Panel title={words.title} help={words.help}>
      <Button onClick={() => setOpened(true)}>{words.open(count(props.ranks))}</Button>
    </Panel>
  );
}

function Opened(props: Props) {
  const { sel } = useTrace();
  const query = useDistributed(sel);
  return (
    <>
      {props.ranks > MOST_AT_ONCE && <RunAnswer />}
      <Async query={query}>{(answer) => <Content {...props} answer={answer} />}</Async>
    </>
  );
}

function Content({ answer, slow }: Props & { answer: Distributed }) {
  const { sel } = useTrace();
  const [wantedStep, setStep] = useAddress(params.step);
  const [order] = useAddress(params.order);
  const [mode] = useAddress(params.mode);
  const [range, setRange] = useAddress(params.range);
  const { workers } = answer;
  const definitions = useMemo(() => answer.definitions.map(inWords), [answer.definitions]);
  const steps = useMemo(() => stepNames(workers), [workers]);
  // A step of another run means all.
  const step = steps.find((name) => name === wantedStep) ?? null;
  const rows = useMemo(() => rankRows(workers, step), [workers, step]);
  const without = rows.filter(({ numbers }) => numbers === null).length;
  return (
    <Flow className="distributed">
      <PartialNotes notes={answer.meta.notes} />
      {steps.length > 0 && (
        <>
          <section className="row" aria-label={text.choice}>
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
              <Choice
                labelled
                param={params.order}
                label={text.order}
                names={ORDERS}
                // Positions mean other ranks in another order.
                onChange={(next) =>
                  setAddress(change(params.order, next), change(params.range, null))
                }
              />
            )}
            <Choice labelled param={params.mode} label={text.mode} names={text} />
            {without > 0 && <span className="muted">{text.stepMissing(String(without))}</span>}
          </section>
          <Charts
            rows={rows}
            slow={slow}
            definitions={definitions}
            order={order}
            mode={mode}
            range={range}
            onRange={setRange}
          />
        </>
      )}
      <Operations answer={answer} worker={sel?.worker ?? null} />
      <Devices answer={answer} />
    </Flow>
  );
}
