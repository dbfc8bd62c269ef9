import { change } from "../../format";
import { compareTexts } from "../../i18n";

const text = compareTexts.headline;

/** What no measurement can tell from nothing, in percent. */
const HARDLY = 0.1;

/** `+3 ms, +4.0 %` */
export function Amount({ delta, percent }: { delta: number; percent: number | null }) {
  if (delta === 0) return <span className="compare-amount">{text.noChange}</span>;
  if (percent !== null && Math.abs(percent) < HARDLY) {
    return <span className="compare-amount">{text.hardly(change(delta, "ns"))}</span>;
  }
  const tone = delta > 0 ? "worse" : "better";
  return (
    <span className={`compare-amount ${tone}`}>
      {change(delta, "ns")}
      {percent !== null && `, ${change(percent, "percent")}`}
    </span>
  );
}
