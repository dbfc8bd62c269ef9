/** Who is slow, in one sentence, and how sure that is. */
import type { RanksOverview } from "../../api";
import { count, unbroken } from "../../format";
import { ranksTexts } from "../../i18n";
import { cost, headline, named } from "./sentence";

const text = ranksTexts.answer;

export function Answer({ answer }: { answer: RanksOverview }) {
  const { tiles, confidence, slow_links: links } = answer;
  const slow = named(answer).length > 0 || links.length > 0;
  const all = tiles.expected ?? tiles.present + tiles.loading + tiles.failed;
  return (
    <section
      className={`run-answer ${slow ? "slow" : tiles.present > 1 && tiles.loading === 0 ? "good" : ""}`}
      aria-label={text.title}
    >
      <p>
        <strong>{unbroken(headline(answer))}</strong> {unbroken(cost(answer))}
      </p>
      <p className="run-facts">
        <span
          className={`badge ${{ high: "good", medium: "warning", low: "warning" }[confidence]}`}
          title={text.confidenceHelp}
        >
          {text.confidence[confidence]}
        </span>
        <span>
          {tiles.loading > 0
            ? text.reading(count(tiles.present), count(all))
            : text.read(count(tiles.present), count(all))}
        </span>
        {tiles.failed > 0 && <span>{text.failed(count(tiles.failed))}</span>}
      </p>
    </section>
  );
}
