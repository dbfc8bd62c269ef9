/** What bounds the run, in one sentence, and how sure that is. */
import type { Overview } from "../../api";
import { partColor } from "../../draw/parts";
import { duration, fraction } from "../../format";
import { boundText, overviewTexts } from "../../i18n";
import { ON_PATH } from "./bounds";

const text = overviewTexts.answer;

/** A number stays in one line with its unit. */
const unbroken = (sentence: string) => sentence.replace(/(\d) (%|ms)/g, "$1\u00a0$2");

export function Answer({ overview }: { overview: Overview }) {
  const { bound, together_ns: together, average, findings } = overview;
  const first = findings.find(({ saving }) => saving?.after_others_ns);
  return (
    <section className="answer" aria-label={text.title}>
      <p className="answer-sentence">
        <i className="swatch" style={{ background: partColor(ON_PATH[bound.kind] ?? "unknown") }} />
        <strong>{unbroken(boundText(bound))}</strong>
      </p>
      <p className="answer-facts">
        {bound.explained !== null && (
          <span
            className={`badge ${bound.confidence === "normal" ? "good" : "warning"}`}
            title={text.explainedHelp}
          >
            {text.explained(fraction(bound.explained))}
          </span>
        )}
        {first && together !== null && average.step_ns > 0 && (
          <span>
            {text.together(
              duration(together),
              fraction(together / average.step_ns),
              findings.filter(({ saving }) => saving?.after_others_ns).length,
            )}
          </span>
        )}
      </p>
    </section>
  );
}
