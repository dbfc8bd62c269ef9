/** The list of views. Entries are links, so that they can be opened elsewhere, too. */
import { type MouseEvent, useId, useState } from "react";
import type { TraceStatus } from "../api";
import { readStored, writeStored } from "../host";
import { t } from "../i18n";
import {
  allViews,
  type GroupId,
  goToView,
  linkToView,
  type View,
  type ViewId,
  viewGroups,
} from "../state";
import { Icon, Splitter, useWidth } from "../ui";
import { hasData, isOf } from "./presence";
import { useSmall } from "./useSmall";
import "./rail.css";

const KEY = "torch-tb-profiler.rail";
const LIMITS = { least: 140, usual: 180, most: 320 };
/** Number keys there are. */
const DIGITS = 9;

interface Props {
  view: ViewId;
  trace: TraceStatus | null;
}

export function Rail({ view, trace }: Props) {
  const small = useSmall();
  const [folded, setFolded] = useState(() => readStored("localStorage", KEY) === "narrow");
  // In a small window the menu opens for now; what is remembered is meant for large ones.
  const [opened, setOpened] = useState(false);
  const [width, setWidth] = useWidth("rail", LIMITS);
  const narrow = small ? !opened : folded;
  const toggle = () => {
    if (small) {
      setOpened(narrow);
      return;
    }
    writeStored("localStorage", KEY, narrow ? null : "narrow");
    setFolded(!narrow);
  };
  return (
    <nav
      className={narrow ? "rail narrow" : "rail"}
      style={narrow ? undefined : { width }}
      aria-label={t.rail.label}
    >
      <div className="rail-views">
        {viewGroups().map(({ id, views }) => {
          const shown = views.filter((each) => isOf(each.id, trace));
          const parts = { view, narrow, trace };
          return shown.length > 0 && <Group key={id} id={id} views={shown} {...parts} />;
        })}
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
      {!narrow && (
        <Splitter
          label={t.rail.width}
          side="right"
          width={width}
          limits={LIMITS}
          onChange={setWidth}
        />
      )}
    </nav>
  );
}

interface GroupProps {
  id: GroupId;
  views: readonly View[];
  view: ViewId;
  narrow: boolean;
  trace: TraceStatus | null;
}

function Group({ id, views, view, narrow, trace }: GroupProps) {
  const label = useId();
  return (
    <div className="rail-group">
      <span id={label} className={narrow ? "visually-hidden" : "rail-title"}>
        {t.rail.groups[id]}
      </span>
      <ul aria-labelledby={label}>
        {views.map((each) => (
          <li key={each.id}>
            <Entry
              view={each}
              current={each.id === view}
              narrow={narrow}
              off={!hasData(each.id, trace)}
            />
          </li>
        ))}
      </ul>
    </div>
  );
}

interface EntryProps {
  view: View;
  current: boolean;
  narrow: boolean;
  /** Nothing of it was recorded; the view says how to. */
  off: boolean;
}

function Entry({ view, current, narrow, off }: EntryProps) {
  const { id, name, key } = view;
  const digit = allViews().indexOf(view) + 1;
  const about = off ? t.rail.noData(name) : narrow ? name : null;
  return (
    <a
      href={linkToView(id)}
      className={off ? "off" : undefined}
      aria-current={current ? "page" : undefined}
      title={[about, t.rail.jump(key)].filter((part) => part !== null).join("\n")}
      onClick={(event) => {
        if (opensElsewhere(event)) return;
        event.preventDefault();
        goToView(id);
      }}
    >
      <Icon path={view.icon} />
      <span className={narrow ? "visually-hidden" : undefined}>{name}</span>
      <span className="rail-key" aria-hidden="true">
        {digit <= DIGITS ? digit : `g ${key}`}
      </span>
    </a>
  );
}

function opensElsewhere(event: MouseEvent): boolean {
  return event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0;
}
