import { type Status, useStatus } from "../../api";
import { compareTexts, t } from "../../i18n";
import { TracePicker } from "../../shell";
import {
  allViews,
  counterpart,
  type FoundTrace,
  findTrace,
  sameTraceName,
  selectTrace,
  setBaseline,
  suggestBaseline,
  swapTraces,
  type TraceName,
  useTrace,
} from "../../state";
import { Button, Combo, Empty, Panel } from "../../ui";

const text = compareTexts.pickers;

/** The other views that show the comparison. */
function otherViews(): string {
  const names = allViews().filter(({ id, compares }) => compares && id !== "compare");
  return new Intl.ListFormat(t.lang).format(names.map(({ name }) => name));
}

/** Both traces, each with its run, worker and span. */
export function Pickers({ baseline }: { baseline: FoundTrace }) {
  const status = useStatus().data;
  const { sel, comparison } = useTrace();
  if (!sel || !status) return null;
  const { name, trace } = baseline;

  const choose = (change: Partial<TraceName>) => {
    const run = status.runs.find((each) => each.name === (change.run ?? name.run));
    if (!run) return;
    let chosen: FoundTrace | null;
    if (change.span !== undefined) {
      chosen = findTrace(status.runs, { ...name, span: change.span });
    } else if (change.worker !== undefined) {
      const { worker } = change;
      chosen = counterpart(
        { ...run, traces: run.traces.filter((each) => each.worker === worker) },
        trace,
      );
    } else {
      chosen = counterpart(run, trace);
      // The run of the experiment itself: another trace of it is meant.
      if (chosen && sameTraceName(chosen.name, sel)) chosen = suggestBaseline([run], sel) ?? chosen;
    }
    if (chosen) setBaseline(chosen.name);
  };

  const { set, suggested } = comparison;
  return (
    <Panel title={text.title} help={text.help}>
      <div className="compare-pickers">
        <fieldset className="compare-side">
          <legend>
            <span className="compare-swatch baseline" aria-hidden="true" /> {compareTexts.baseline}
          </legend>
          <TracePicker names={text.names.baseline} status={status} {...name} onChange={choose} />
        </fieldset>
        <Button title={text.swapHint} onClick={() => swapTraces(sel, name)}>
          ⇄ {text.swap}
        </Button>
        <fieldset className="compare-side">
          <legend>
            <span className="compare-swatch experiment" aria-hidden="true" />{" "}
            {compareTexts.experiment}
          </legend>
          <TracePicker
            names={text.names.experiment}
            status={status}
            run={sel.run}
            worker={sel.worker}
            span={sel.span}
            onChange={selectTrace}
          />
        </fieldset>
      </div>
      <p className="row compare-mode">
        {set ? (
          <>
            <span>{text.set(otherViews())}</span>
            <Button onClick={() => setBaseline(null)}>{text.end}</Button>
          </>
        ) : (
          <>
            {suggested && <span>{text.why[suggested.why]}</span>}
            <Button title={text.set(otherViews())} onClick={() => setBaseline(name)}>
              {text.everywhere}
            </Button>
          </>
        )}
      </p>
    </Panel>
  );
}

/** Where no other trace is like this one, the user says which is meant. */
export function Choose({ status }: { status: Status }) {
  const { trace } = useTrace();
  return (
    <Panel title={text.title} help={text.help}>
      <Empty title={text.none} reason={text.noneReason} />
      <Combo
        label={text.names.baseline.run}
        value={null}
        options={status.runs.map(({ name }) => ({ value: name, label: name }))}
        onChange={(name) => {
          const run = status.runs.find((each) => each.name === name);
          const chosen = run && counterpart(run, trace);
          if (chosen) setBaseline(chosen.name);
        }}
      />
    </Panel>
  );
}
