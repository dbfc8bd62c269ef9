/** What bounds all ranks of a run together, and what rules over ranks find: said before what one rank alone shows. */
import { type Overview, useRunFindings } from "../../api";
import { overviewTexts } from "../../i18n";
import { useTrace } from "../../state";
import { Panel } from "../../ui";
import { BoundSentence } from "./BoundSentence";
import { FindingItem } from "./FindingItem";
import { ShowIn } from "./ShowIn";

const text = overviewTexts.run;

/** Nothing while it is not known, and where the traces of the run do not communicate. */
export function JobVerdict({ overview }: { readonly overview: Overview }) {
  return overview.workers > 1 ? <Job /> : null;
}

function Job() {
  const { sel } = useTrace();
  const { data } = useRunFindings(sel);
  if (!data || data.loaded < 2 || data.collectives === 0) return null;
  const { bound, findings, step_ns: step, loaded, world } = data;
  return (
    <>
      <BoundSentence bound={bound}>
        <span className={`badge ${loaded < world ? "warning" : "good"}`}>
          {text.loaded(loaded, world)}
        </span>
        <ShowIn view="distributed" inText />
      </BoundSentence>
      {findings.length > 0 && (
        <Panel title={text.findings}>
          <ol className="findings">
            {findings.map((finding, at) => (
              <FindingItem
                key={finding.key}
                finding={finding}
                stepNs={step ?? 0}
                isFirst={at === 0}
                here="overview"
              />
            ))}
          </ol>
        </Panel>
      )}
    </>
  );
}
