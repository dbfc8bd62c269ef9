/** The list of views. Entries are links, so that they can be opened elsewhere, too. */
import { type MouseEvent, useId, useState } from "react";
import { readStored, writeStored } from "../host";
import { t } from "../i18n";
import { type GroupId, goToView, linkToView, VIEW_GROUPS, VIEW_IDS, type ViewId } from "../state";
import { Icon } from "./Icon";

const KEY = "torch-tb-profiler.rail";

export function Rail({ view }: { view: ViewId }) {
  const [narrow, setNarrow] = useState(() => readStored("localStorage", KEY) === "narrow");
  const toggle = () => {
    writeStored("localStorage", KEY, narrow ? null : "narrow");
    setNarrow(!narrow);
  };
  return (
    <nav className={narrow ? "rail narrow" : "rail"} aria-label={t.rail.label}>
      <div>
        {VIEW_GROUPS.map((group) => (
          <Group key={group.id} {...group} view={view} narrow={narrow} />
        ))}
      </div>
      <button
        type="button"
        className="button quiet icon"
        aria-label={narrow ? t.rail.expand : t.rail.collapse}
        aria-expanded={!narrow}
        title={narrow ? t.rail.expand : t.rail.collapse}
        onClick={toggle}
      >
        <Icon name={narrow ? "expand" : "collapse"} />
      </button>
    </nav>
  );
}

interface GroupProps {
  id: GroupId;
  views: readonly ViewId[];
  view: ViewId;
  narrow: boolean;
}

function Group({ id, views, view, narrow }: GroupProps) {
  const label = useId();
  return (
    <div className="rail-group">
      <span id={label} className={narrow ? "visually-hidden" : "rail-title"}>
        {t.rail.groups[id]}
      </span>
      <ul aria-labelledby={label}>
        {views.map((each) => (
          <li key={each}>
            <a
              href={linkToView(each)}
              aria-current={each === view ? "page" : undefined}
              title={narrow ? t.views[each] : undefined}
              onClick={(event) => {
                if (opensElsewhere(event)) return;
                event.preventDefault();
                goToView(each);
              }}
            >
              <Icon name={each} />
              <span className={narrow ? "visually-hidden" : undefined}>{t.views[each]}</span>
              <span className="rail-key" aria-hidden="true">
                {VIEW_IDS.indexOf(each) + 1}
              </span>
            </a>
          </li>
        ))}
      </ul>
    </div>
  );
}

function opensElsewhere(event: MouseEvent): boolean {
  return event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0;
}
