import type { ReplayMeta } from "../../api";
import { fraction } from "../../format";
import { refusedText } from "../../i18n";
import { criticalpath as text } from "../../i18n/en/criticalpath";

/** How much of the time is explained; shown with every answer. */
export function Confidence({ meta: { explained, confidence } }: { meta: ReplayMeta }) {
  if (explained === null) return null;
  const tone = { normal: "good", low: "warning", none: "error" }[confidence];
  return (
    <span className="path-confidence">
      <span className={`badge ${tone}`} title={text.explainedHelp}>
        {text.explained(fraction(explained))}
      </span>
      {confidence === "low" && <span className="muted">{text.low}</span>}
    </span>
  );
}

/** What is not answered about this trace, and why. */
export function Refusals({ meta: { refused } }: { meta: ReplayMeta }) {
  if (refused.length === 0) return null;
  return (
    <section className="path-refused" aria-label={text.refused}>
      <strong>{text.refused}</strong>
      <ul>
        {refused.map((each) => (
          <li key={each.id}>{refusalText(each)}</li>
        ))}
      </ul>
    </section>
  );
}

interface Refusal {
  readonly id: string;
  readonly text?: string;
  readonly share?: number | null;
}

/** Why something is not answered; in the server's words where the reason is not known here. */
export function refusalText({ id, text: said = id, share = null }: Refusal): string {
  const words = text.refusals[id];
  const own = typeof words === "function" ? words(fraction(share, 0)) : words;
  return own ?? refusedText({ id, text: said, share });
}
