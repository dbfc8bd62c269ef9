/** What explains the picture: lanes that are computed, and dimming what could have come later. */
import { useId } from "react";
import { DERIVED_KINDS } from "../../api";
import { duration, percent } from "../../format";
import { traceTexts as text, timelineTexts } from "../../i18n";
import { useAddress } from "../../state";
import { Legend } from "../../timeline";
import { Popup } from "../../ui";
import { params } from "./params";
import { SLACK_STEPS, slackAt, slackPosition } from "./slack";
import type { DerivedState } from "./useDerived";

/** The settings, in a box of their own. */
export function ExplainMenu({ longestStep }: Pick<DerivedState, "longestStep">) {
  const [wanted, setWanted] = useAddress(params.derived);
  const [slack, setSlack] = useAddress(params.slack);
  const id = useId();
  const on = wanted.length + (slack === null ? 0 : 1);
  return (
    <Popup label={text.explain(on)}>
      {() => (
        <fieldset className="trace-menu">
          <legend className="visually-hidden">{text.explainHelp}</legend>
          {DERIVED_KINDS.map((kind) => (
            <label key={kind}>
              <input
                type="checkbox"
                checked={wanted.includes(kind)}
                onChange={() =>
                  setWanted(
                    wanted.includes(kind)
                      ? wanted.filter((each) => each !== kind)
                      : [...wanted, kind],
                  )
                }
              />{" "}
              {timelineTexts.derived[kind]}
              <span className="trace-explain muted">{text.derivedHelp[kind]}</span>
            </label>
          ))}
          <label>
            <input
              type="checkbox"
              checked={slack !== null}
              onChange={() => setSlack(slack === null ? 0 : null)}
            />{" "}
            {text.dim}
            <span className="trace-explain muted">{text.dimHelp}</span>
          </label>
          {slack !== null && (
            <div className="trace-slack">
              <label htmlFor={`${id}slack`}>{text.slack}</label>
              <input
                id={`${id}slack`}
                type="range"
                min={0}
                max={SLACK_STEPS}
                disabled={longestStep === 0}
                value={slackPosition(slack, longestStep)}
                aria-valuetext={duration(slack)}
                onChange={(event) => setSlack(slackAt(Number(event.target.value), longestStep))}
              />
              <output htmlFor={`${id}slack`} className="num">
                {duration(slack)}
              </output>
            </div>
          )}
        </fieldset>
      )}
    </Popup>
  );
}

/** What the colours of these lanes mean, and why one that is wanted is not there. */
export function ExplainNote({ state }: { state: DerivedState }) {
  const [slack] = useAddress(params.slack);
  return (
    <>
      {state.shown.map(({ of, about }) => (
        <div key={of} className="trace-legend">
          <span className="muted">{timelineTexts.derived[of]}</span>
          <Legend parts={about.parts} />
          {about.unexplained !== null && about.unexplained > 0.005 && (
            <span className="muted num">{text.unexplained(percent(about.unexplained * 100))}</span>
          )}
        </div>
      ))}
      {slack !== null && state.longestStep > 0 && (
        <p className="muted">{text.dimmed(duration(slack))}</p>
      )}
      {state.isLoading && (
        <p className="muted" role="status">
          {text.derivedLoading}…
        </p>
      )}
      {state.refused.map(({ worker, id, text: why }) => (
        <p key={`${worker} ${id}`} className="trace-wrong" role="status">
          {text.notComputed(worker, text.refusals[id] ?? why)}
        </p>
      ))}
    </>
  );
}
