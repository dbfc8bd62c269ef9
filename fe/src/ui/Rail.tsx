/** The list of views. Entries are links, so that they can be opened elsewhere, too. */
import { type MouseEvent, useState } from "react";
import { readStored, writeStored } from "../host";
import { t } from "../i18n";
import { goToView, linkToView, VIEW_IDS, type ViewId } from "../state";
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
      <ul>
        {VIEW_IDS.map((id, index) => (
          <li key={id}>
            <a
              href={linkToView(id)}
              aria-current={id === view ? "page" : undefined}
              title={narrow ? t.views[id] : undefined}
              onClick={(event) => {
                if (opensElsewhere(event)) return;
                event.preventDefault();
                goToView(id);
              }}
            >
              <Icon name={id} />
              <span className={narrow ? "visually-hidden" : undefined}>{t.views[id]}</span>
              <span className="rail-key" aria-hidden="true">
                {index + 1}
              </span>
            </a>
          </li>
        ))}
      </ul>
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

function opensElsewhere(event: MouseEvent): boolean {
  return event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0;
}
