/** What explains the picture: lanes that are computed, and dimming what could have come later. */
import { useId } from "react";
import { DERIVED_KINDS, type DerivedMeta, type Result } from "../../api";
import { duration, percent } from "../../format";
import { traceTexts as text, timelineTexts } from "../../i18n";
import { useAddress } from "../../state";
import { Legend } from "../../timeline";
import { Popup } from "../../ui";
import { params } from "./params";
import { SLACK_STEPS, slackAt, slackPosition } from "./slack";
import { useDerived, useTraceState } from "./useTraceModel";

/** The settings, in a box of their own: lanes with what their colours mean, or why one is not there. */
export function ExplainMenu() {
  const state = useTraceState();
  const { longestStep } = state;
  const answers = useDerived(state);
  const [asked, setWanted] = useAddress(params.derived);
  const [slack, setSlack] = useAddress(params.slack);
  const id = useId();
  const wanted = asked ?? DERIVED_KINDS;
  const on = wanted.length + (slack === null ? 0 : 1);
  return (
    <Popup label={text.explain(on)}>
      {() => (
        <fieldset className="trace-menu">
          <legend className="visually-hidden">{text.explainHelp}</legend>
          {DERIVED_KINDS.map((kind) => (
            <div key={kind}>
              <label>
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
              {wanted.includes(kind) && (
                <Meaning answers={answers.filter((each) => each.of === kind)} />
              )}
            </div>
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

type Answers = ReturnType<typeof useDerived>;

/** What the colours of lanes of one kind mean: of the first rank that has some. */
function Meaning({ answers }: { readonly answers: Answers }) {
  const shown = answers.find(({ answer }) => answer?.data?.refused === null)?.answer?.data;
  return (
    <div className="trace-explain">
      {shown && <Legend parts={shown.parts} />}
      {shown?.unexplained != null && shown.unexplained > 0.005 && (
        <span className="muted num">{text.unexplained(percent(shown.unexplained * 100))}</span>
      )}
      <Refusals answers={answers} />
    </div>
  );
}

/** What the picture does not say by itself: that lanes are on their way, and why some that were asked for are not there. */
export function ExplainNote() {
  const state = useTraceState();
  const answers = useDerived(state);
  const [asked] = useAddress(params.derived);
  const [slack] = useAddress(params.slack);
  return (
    <>
      {slack !== null && state.longestStep > 0 && (
        <p className="muted">{text.dimmed(duration(slack))}</p>
      )}
      {answers.some(({ answer }) => answer?.isPending) && (
        <p className="visually-hidden" role="status">
          {text.derivedLoading}…
        </p>
      )}
      {(asked !== null || slack !== null) && <Refusals answers={answers} />}
    </>
  );
}

function Refusals({ answers }: { readonly answers: Answers }) {
  return answers.map(({ rank: { worker }, of, answer }) => {
    const why = whyNot(answer);
    return (
      why !== null && (
        <p key={`${worker} ${of}`} className="trace-wrong" role="status">
          {text.notComputed(worker, why)}
        </p>
      )
    );
  });
}

function whyNot(answer: Result<DerivedMeta> | undefined): string | null {
  const refused = answer?.data?.refused;
  return refused ? (text.refusals[refused.id] ?? refused.text) : (answer?.error?.message ?? null);
}
