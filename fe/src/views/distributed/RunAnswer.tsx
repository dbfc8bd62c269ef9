/** What bounds all ranks together, and what to do about it. */
import { type RunFindings, useRunFindings } from "../../api";
import { duration, fraction } from "../../format";
import { distributedTexts, overviewTexts } from "../../i18n";
import { BoundSentence, FindingItem, Places, showInTrace } from "../../shell/findings";
import { selectTrace, useTrace } from "../../state";
import { Async, Panel } from "../../ui";

const text = distributedTexts.run;
const words = overviewTexts;

export function RunAnswer() {
  const { sel } = useTrace();
  const query = useRunFindings(sel);
  return (
    <div className="beside">
      <Async query={query}>{(answer) => <Content answer={answer} />}</Async>
    </div>
  );
}

function Content({ answer }: { answer: RunFindings }) {
  const { bound, findings, step_ns: step, together_ns: together, loaded, world } = answer;
  const saving = findings.filter(({ saving }) => saving?.after_others_ns).length;
  return (
    <div className="stack">
      <BoundSentence bound={bound}>
        <span className={`badge ${loaded < world ? "warning" : "good"}`} title={text.loadedHelp}>
          {loaded < world ? text.partly(loaded, world) : text.loaded(loaded)}
        </span>
        {saving > 0 && together !== null && step !== null && (
          <span>
            {words.answer.together(duration(together), fraction(together / step), saving)}
          </span>
        )}
      </BoundSentence>
      <Panel title={words.findings.title} help={text.help}>
        {findings.length === 0 ? (
          <p className="muted">{text.none(answer.checked.length)}</p>
        ) : (
          <ol className="findings">
            {findings.map((finding, at) => (
              <FindingItem
                key={finding.key}
                finding={finding}
                stepNs={step ?? 0}
                isFirst={at === 0}
                here="distributed"
                places={
                  <Places
                    places={finding.instances}
                    count={finding.count}
                    onShow={(place) => {
                      selectTrace({ worker: place.worker });
                      showInTrace(place, place.row);
                    }}
                  />
                }
              />
            ))}
          </ol>
        )}
      </Panel>
    </div>
  );
}
