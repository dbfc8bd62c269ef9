/** Says above a view that it does not show all steps, and takes that back. */
import { count } from "../../format";
import { t } from "../../i18n";
import { type CurrentTrace, findView, page, useAddress, type ViewId } from "../../state";
import { Icon } from "../../ui";
import "./brush.css";

interface Props {
  view: ViewId;
  current: CurrentTrace;
}

export function RangeChip({ view, current: { steps, range } }: Props) {
  const [, setRange] = useAddress(page.steps);
  if (!steps || !range) return null;
  const from = steps.names[range.first] ?? "";
  const to = steps.names[range.last] ?? "";
  if (findView(view)?.wholeFile) {
    return <span className="range-chip off">{t.range.notHere(t.range.between(from, to))}</span>;
  }
  return (
    <span className="range-chip">
      <span className="num">{t.range.chip(from, to, count(steps.names.length))}</span>
      <button
        type="button"
        className="range-clear"
        aria-label={t.range.clear}
        title={t.range.clear}
        onClick={() => setRange(null)}
      >
        <Icon name="close" />
      </button>
    </span>
  );
}
