/** The list of views. Entries are links, so that they can be opened elsewhere, too. */
import { type MouseEvent, useId, useState } from "react";
import type { RunStatus, TraceStatus } from "../api";
import { readStored, writeStored } from "../host";
import { t } from "../i18n";
import { allViews, goToView, linkToView, type View, type ViewId, viewGroups } from "../state";
import { Button, Icon, Link, Splitter, useWidth } from "../ui";
import { hasData, isOf } from "./presence";
import { useSmall } from "./useSmall";
import "./rail.css";

const KEY = "torch-tb-profiler.rail";
const LIMITS = { least: 140, usual: 180, most: 320 };

interface Props {
  view: ViewId;
  trace: TraceStatus | null;
  run: RunStatus | null;
  /** There is nothing to look at in any view. */
  isEmpty: boolean;
}

export function Rail({ view, trace, run, isEmpty }: Props) {
  const small = useSmall();
  const [folded, setFolded] = useState(() => readStored("localStorage", KEY) === "narrow");
  // In a small window the menu opens for now; what is remembered is meant for large ones.
  const [opened, setOpened] = useState(false);
  const [width, setWidth] = useWidth("rail", LIMITS);
  const narrow = small ? !opened : folded;
  const offered = isEmpty ? [] : allViews().filter(({ id }) => isOf(id, trace, run));
  const recorded = offered.filter(({ id }) => hasData(id, trace));
  const others = offered.filter((each) => !recorded.includes(each));
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
        {viewGroups(recorded).map(({ id, views }) => (
          <Group key={id} title={t.rail.groups[id]} views={views} view={view} narrow={narrow} />
        ))}
        {others.length > 0 && <NotRecorded views={others} view={view} narrow={narrow} />}
      </div>
      <Button
        quiet
        icon
        aria-label={narrow ? t.rail.expand : t.rail.collapse}
        aria-expanded={!narrow}
        title={narrow ? t.rail.expand : t.rail.collapse}
        onClick={toggle}
      >
        <Icon name={narrow ? "expand" : "collapse"} />
      </Button>
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

interface ListProps {
  views: readonly View[];
  view: ViewId;
  narrow: boolean;
}

interface GroupProps extends ListProps {
  title: string;
}

function Group({ title, ...list }: GroupProps) {
  const label = useId();
  return (
    <div className="rail-group">
      {/* a title over one view would say its name again */}
      <span
        id={label}
        className={list.narrow || list.views.length < 2 ? "visually-hidden" : "rail-title"}
      >
        {title}
      </span>
      <Entries label={label} {...list} />
    </div>
  );
}

/** Views that have nothing to show of this trace; each says what to switch on. */
function NotRecorded(list: ListProps) {
  const label = useId();
  const [asked, setAsked] = useState(false);
  const isOpen = asked || list.views.some(({ id }) => id === list.view);
  return (
    <div className="rail-group">
      <Link
        className="rail-more"
        id={label}
        aria-expanded={isOpen}
        aria-label={t.rail.notRecorded(list.views.length)}
        onClick={() => setAsked(!isOpen)}
      >
        {list.narrow ? `(${list.views.length})` : t.rail.notRecorded(list.views.length)}
      </Link>
      {isOpen && <Entries label={label} off {...list} />}
    </div>
  );
}

interface EntriesProps extends ListProps {
  /** Id of their title. */
  label: string;
  off?: boolean;
}

function Entries({ label, views, view, narrow, off = false }: EntriesProps) {
  return (
    <ul aria-labelledby={label}>
      {views.map((each) => (
        <li key={each.id}>
          <Entry view={each} current={each.id === view} narrow={narrow} off={off} />
        </li>
      ))}
    </ul>
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
  const { id, name, key, digit } = view;
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
        {digit ?? `g ${key}`}
      </span>
    </a>
  );
}

function opensElsewhere(event: MouseEvent): boolean {
  return event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0;
}
