/** The list of views. Entries are links, so that they can be opened elsewhere, too. */
import { type MouseEvent, useId, useState } from "react";
import type { TraceStatus } from "../api";
import { readStored, writeStored } from "../host";
import { t } from "../i18n";
import {
  type GroupId,
  goToView,
  JUMP_KEYS,
  linkToView,
  VIEW_GROUPS,
  VIEW_IDS,
  type ViewId,
} from "../state";
import { Icon, Splitter, useWidth } from "../ui";
import { hasData } from "./places";
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
        {VIEW_GROUPS.map((group) => (
          <Group key={group.id} {...group} view={view} narrow={narrow} trace={trace} />
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
  views: readonly ViewId[];
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
          <li key={each}>
            <Entry id={each} current={each === view} narrow={narrow} off={!hasData(each, trace)} />
          </li>
        ))}
      </ul>
    </div>
  );
}

interface EntryProps {
  id: ViewId;
  current: boolean;
  narrow: boolean;
  /** Nothing of it was recorded; the view says how to. */
  off: boolean;
}

function Entry({ id, current, narrow, off }: EntryProps) {
  const digit = VIEW_IDS.indexOf(id) + 1;
  const name = t.views[id];
  const about = off ? t.rail.noData(name) : narrow ? name : null;
  return (
    <a
      href={linkToView(id)}
      className={off ? "off" : undefined}
      aria-current={current ? "page" : undefined}
      title={[about, t.rail.jump(JUMP_KEYS[id])].filter((part) => part !== null).join("\n")}
      onClick={(event) => {
        if (opensElsewhere(event)) return;
        event.preventDefault();
        goToView(id);
      }}
    >
      <Icon name={id} />
      <span className={narrow ? "visually-hidden" : undefined}>{name}</span>
      <span className="rail-key" aria-hidden="true">
        {digit <= DIGITS ? digit : `g ${JUMP_KEYS[id]}`}
      </span>
    </a>
  );
}

function opensElsewhere(event: MouseEvent): boolean {
  return event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0;
}
