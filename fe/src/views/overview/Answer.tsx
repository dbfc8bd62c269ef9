/** What bounds the run, in one sentence, and how sure that is. */
import type { Overview } from "../../api";
import { duration, fraction } from "../../format";
import { overviewTexts } from "../../i18n";
import { BoundSentence } from "../../shell/findings";

const text = overviewTexts.answer;

export function Answer({ overview }: { overview: Overview }) {
  const { bound, together_ns: together, average, findings, workers } = overview;
  const number = findings.filter(({ saving }) => saving?.after_others_ns).length;
  return (
    <BoundSentence bound={bound} title={workers > 1 ? text.titleOfRank : text.title}>
      {bound.explained !== null && (
        <span
          className={`badge ${bound.confidence === "normal" ? "good" : "warning"}`}
          title={text.explainedHelp}
        >
          {text.explained(fraction(bound.explained))}
        </span>
      )}
      {/* What a single one saves stands beside it. */}
      {number > 1 && together !== null && average.step_ns > 0 && (
        <span>
          {text.together(duration(together), fraction(together / average.step_ns), number)}
        </span>
      )}
    </BoundSentence>
  );
}
