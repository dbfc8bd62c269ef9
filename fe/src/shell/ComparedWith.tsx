/** In the context bar: what the view is compared with, and the way out of it; or the way in. */
import type { Status } from "../api";
import { t } from "../i18n";
import {
  type CurrentTrace,
  findView,
  goToView,
  sameTraceName,
  setBaseline,
  useViewId,
} from "../state";
import { Button, Icon } from "../ui";
import { traceTitle } from "./traceTitle";

const text = t.comparison;

interface Props {
  status: Status | undefined;
  current: CurrentTrace;
}

export function ComparedWith({ status, current: { sel, comparison } }: Props) {
  const [view] = useViewId();
  const { set, suggested } = comparison;
  if (!set) {
    // In the view itself the baseline is chosen there.
    if (!suggested || view === "compare") return null;
    return (
      <Button quiet title={text.startHint} onClick={() => goToView("compare")}>
        <Icon path={findView("compare")?.icon ?? ""} />
        {text.start}
      </Button>
    );
  }
  // Nothing is promised where the view shows nothing of it.
  if (!findView(view)?.compares) return null;
  const title = traceTitle(status, set.name);
  const sentence = sameTraceName(set.name, sel) ? text.itself(title) : text.comparedWith(title);
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for fields
    <span className="compared" role="group" aria-label={text.label}>
      <button
        type="button"
        className="compared-name"
        title={`${sentence}. ${text.open}`}
        onClick={() => goToView("compare")}
      >
        <Icon path={findView("compare")?.icon ?? ""} />
        <span aria-hidden="true">{text.versus(title)}</span>
        <span className="visually-hidden">{sentence}</span>
      </button>
      <button
        type="button"
        className="compared-end"
        aria-label={text.end}
        title={text.end}
        onClick={() => setBaseline(null)}
      >
        <Icon name="close" />
      </button>
    </span>
  );
}
