/** The names of the tracks at the left, and what can be done with each. Only those in sight exist. */
import { type CSSProperties, memo, type PointerEvent, useRef } from "react";
import { count, onOneLine } from "../format";
import { timelineTexts as text } from "../i18n";
import { Icon } from "../ui";
import type { DropTarget } from "./dragging";
import { rowsBetween } from "./layout";
import type { TrackRow, TrackRows } from "./track";
import { type TrackDrag, useTrackDrag } from "./useTrackDrag";

export type TrackAction = "toggle" | "pin" | "hide" | "up" | "down";

interface Props {
  readonly rows: TrackRows;
  /** Pixels scrolled out of sight, and in sight. */
  readonly top: number;
  readonly height: number;
  readonly onAction: (row: TrackRow, action: TrackAction) => void;
  readonly onDrop: (row: TrackRow, target: DropTarget) => void;
  /** The pointer or the focus is on the name of a track, or on none. */
  readonly onLegend: (row: TrackRow | null, at?: DOMRect) => void;
}

const OVERSCAN = 200;

/** The names stay as they are while the picture moves sideways. */
export const Labels = memo(function Labels(props: Props) {
  const { rows, top, height, onAction, onDrop, onLegend } = props;
  const list = useRef<HTMLUListElement>(null);
  const { drag, start } = useTrackDrag(rows, list, onDrop);
  const [from, to] = rowsBetween(rows.rows, top - OVERSCAN, top + height + OVERSCAN);
  return (
    <>
      <ul ref={list} className="timeline-labels" aria-label={text.tracks}>
        {rows.rows.slice(from, to).map((row) => (
          <Label
            key={`${row.pinned}${row.track.key}`}
            row={row}
            isDragged={drag?.row.track.key === row.track.key}
            onAction={onAction}
            onLegend={onLegend}
            onGrab={start}
          />
        ))}
      </ul>
      {drag && <Landing drag={drag} top={top} />}
    </>
  );
});

/** The gap that a dragged track would land in, and what else it can be dropped on. */
function Landing({ drag: { row, landing, over }, top }: { drag: TrackDrag; top: number }) {
  const { name, isGroup } = row.track;
  return (
    <>
      {landing && <div className="timeline-landing" style={{ top: landing.y }} />}
      <div className="timeline-drops" style={{ top }}>
        {!isGroup && (
          <span data-drop="pin" className={over === "pin" ? "over" : ""}>
            {row.pinned ? text.unpin(name) : text.dropPin}
          </span>
        )}
        {!row.pinned && (
          <span data-drop="hide" className={over === "hide" ? "over" : ""}>
            {text.dropHide}
          </span>
        )}
      </div>
    </>
  );
}

interface LabelProps extends Pick<Props, "onAction" | "onLegend"> {
  readonly row: TrackRow;
  readonly isDragged: boolean;
  readonly onGrab: (row: TrackRow, event: PointerEvent<HTMLElement>) => void;
}

function Label({ row, isDragged, onAction, onLegend, onGrab }: LabelProps) {
  const { track, level, y, height, collapsed, pinned } = row;
  const { name } = track;
  const act = (action: TrackAction) => () => onAction(row, action);
  const group = track.isGroup;
  const showLegend = ({ currentTarget }: { currentTarget: Element }) =>
    onLegend(row, currentTarget.getBoundingClientRect());
  const hideLegend = () => onLegend(null);
  return (
    <li
      onPointerEnter={showLegend}
      onPointerLeave={hideLegend}
      onFocus={showLegend}
      onBlur={hideLegend}
      className={`timeline-label${group ? " group" : ""}${pinned ? " pinned" : ""}${isDragged ? " dragged" : ""}`}
      style={{ top: y, height, "--level": level } as CSSProperties}
      data-track={track.key}
      data-collapsed={collapsed}
    >
      <button
        type="button"
        className="timeline-toggle"
        aria-expanded={!collapsed}
        aria-label={collapsed ? text.expand(name) : text.collapse(name)}
        onClick={act("toggle")}
      >
        <Icon name={collapsed ? "expand" : "down"} />
      </button>
      <span className="timeline-name" title={name} onPointerDown={(event) => onGrab(row, event)}>
        {onOneLine(name)}
      </span>
      {track.events > 0 && (
        <span className="timeline-count num" title={text.slices(count(track.events))}>
          {count(track.events)}
        </span>
      )}
      <span className="timeline-tools">
        {!group && (
          <Tool
            icon="pin"
            label={pinned ? text.unpin(name) : text.pin(name)}
            pressed={pinned}
            onClick={act("pin")}
          />
        )}
        {!pinned && (
          <>
            <Tool icon="up" label={text.up(name)} onClick={act("up")} />
            <Tool icon="down" label={text.down(name)} onClick={act("down")} />
            <Tool icon="hide" label={text.hide(name)} onClick={act("hide")} />
          </>
        )}
      </span>
    </li>
  );
}

interface ToolProps {
  readonly icon: "pin" | "up" | "down" | "hide";
  readonly label: string;
  readonly pressed?: boolean;
  readonly onClick: () => void;
}

function Tool({ icon, label, pressed, onClick }: ToolProps) {
  return (
    <button type="button" aria-label={label} title={label} aria-pressed={pressed} onClick={onClick}>
      <Icon name={icon} />
    </button>
  );
}
