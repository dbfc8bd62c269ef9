/** The findings that matter most, a line each; their details open in place. */
import { overviewTexts } from "../../i18n";
import { FindingItem } from "../../shell/findings";
import { Link } from "../../ui";
import { FindingOfRank } from "./Findings";
import type { Line } from "./lines";

const text = overviewTexts.findings;

interface Props {
  readonly lines: readonly Line[];
  /** How many findings have no line. */
  readonly more: number;
  readonly opened: readonly string[];
  readonly onFold: (key: string) => void;
  /** Shows all findings. */
  readonly onAll: () => void;
}

export function TopFindings({ lines, more, opened, onFold, onAll }: Props) {
  return (
    <section className="top-findings" aria-label={text.top}>
      {lines.length === 0 ? (
        <p className="muted">{text.none}</p>
      ) : (
        <ol>
          {lines.map((line) => {
            const fold = { isFolded: !opened.includes(line.key), onFold: () => onFold(line.key) };
            const { key, number, stepNs, isFirst } = line;
            return line.of === "rank" ? (
              <FindingOfRank
                key={key}
                finding={line.finding}
                {...{ number, stepNs, isFirst, fold }}
              />
            ) : (
              <FindingItem
                key={key}
                finding={line.finding}
                here="overview"
                {...{ number, stepNs, isFirst, fold }}
              />
            );
          })}
        </ol>
      )}
      {more > 0 && <Link onClick={onAll}>{text.more(more)}</Link>}
    </section>
  );
}
