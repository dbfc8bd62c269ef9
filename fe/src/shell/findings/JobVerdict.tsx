/** What bounds all ranks of a run together, and what rules over ranks find: said before what one rank alone shows. */
import { type Overview, type RunFindings, useRunFindings } from "../../api";
import { overviewTexts } from "../../i18n";
import { useTrace } from "../../state";
import { Panel } from "../../ui";
import { BoundSentence } from "./BoundSentence";
import { FindingItem } from "./FindingItem";
import { ShowIn } from "./ShowIn";

const text = overviewTexts.run;

/** Null while it is not known, and where the traces of the run do not communicate. */
export function useJob({ workers }: Pick<Overview, "workers">): RunFindings | null {
  const { sel } = useTrace();
  const { data } = useRunFindings(workers > 1 ? sel : null);
  return data && data.loaded > 1 && data.collectives > 0 ? data : null;
}

export function JobVerdict({ job: { bound, loaded, world } }: { readonly job: RunFindings }) {
  return (
    <BoundSentence bound={bound}>
      <span className={`badge ${loaded < world ? "warning" : "good"}`}>
        {text.loaded(loaded, world)}
      </span>
      <ShowIn view="distributed" inText />
    </BoundSentence>
  );
}

export function JobFindings({ job: { findings, step_ns: step } }: { readonly job: RunFindings }) {
  return (
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
  );
}
