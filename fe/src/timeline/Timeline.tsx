import {
  type CSSProperties,
  type ReactNode,
  type RefObject,
  useCallback,
  useEffect,
  useId,
  useMemo,
  useRef,
  useState,
} from "react";
import { momentIn, PointerTip, type TimeWindow, type TooltipContent } from "../draw";
import { count, duration } from "../format";
import { useComputed } from "../host";
import { timelineTexts } from "../i18n";
import { Link, useLatest } from "../ui";
import { sameTimes } from "./camera";
import { type Colors, readColors } from "./colors";
import type { DropTarget } from "./dragging";
import type { Flow } from "./flows";
import { gestures, type Tool } from "./gestures";
import { type KeyAction, keyAction } from "./keys";
import { rendererOf } from "./kinds";
import type { Hit } from "./kinds/renderer";
import { Labels, type TrackAction } from "./Labels";
import type { Look } from "./look";
import type { RankTiles } from "./rankTiles";
import { Strip, type StripData } from "./Strip";
import { type Flags, type Mark, type Picked, type PickedSlice, sliceOf } from "./scene";
import { AXIS, type Shown, Stage, type StageState } from "./stage";
import type { TrackRow, TrackRows } from "./track";
import "./timeline.css";

interface TimelineProps {
  readonly title: string;
  readonly sources: readonly RankTiles[];
  readonly rows: TrackRows;
  readonly whole: TimeWindow;
  /** What is to be seen; where the user goes from there is told by `onWindow` when they rest. */
  readonly window: TimeWindow;
  readonly onWindow: (window: TimeWindow) => void;
  /** Called when all that is in sight is drawn, and nothing has moved for a while. */
  readonly onSettled: () => void;
  readonly look: Look;
  readonly tool: Tool;
  readonly selected: PickedSlice | null;
  readonly selectedName: string;
  /** `extend`: what was selected before is to be the other end. */
  readonly onSelect: (picked: Picked | null, extend: boolean) => void;
  readonly from: PickedSlice | null;
  readonly peers: readonly PickedSlice[];
  readonly mark: Mark | null;
  readonly onMark: (mark: Mark | null) => void;
  readonly flags: Flags | null;
  readonly steps: readonly { readonly name: string; readonly start: number }[];
  readonly flows: readonly Flow[];
  readonly strip: StripData;
  readonly onTrack: (row: TrackRow, action: TrackAction) => void;
  readonly onDrop: (row: TrackRow, target: DropTarget) => void;
  /** What the timeline cannot do by itself. */
  readonly onAction: (action: KeyAction) => void;
  /** Tells where the picture is; the page moves it with that. */
  readonly stage: RefObject<Stage | null>;
  readonly filter: string;
  readonly onFilter: (filter: string) => void;
  readonly onShowAll: () => void;
  /** Stands above the names of the tracks, beside the strip. */
  readonly lead: ReactNode;
  /** Stands below the last track. */
  readonly end: ReactNode;
}

/** Pixels below the last track. */
const END = 40;

/** The address follows, and what may come later is asked for, when nothing has moved for so long. */
const SETTLE_MS = 200;

export function Timeline(props: TimelineProps) {
  const { sources, rows, whole, window: wanted, stage } = props;
  const canvas = useRef<HTMLCanvasElement>(null);
  const axis = useRef<HTMLCanvasElement>(null);
  const scroller = useRef<HTMLDivElement>(null);
  const latest = useLatest(props);
  const colors = useComputed(scroller, readColors);
  const { state, view, hover } = useStage(props, colors, { canvas, axis, scroller });
  const hint = useId();
  const [legend, setLegend] = useState<Legend | null>(null);
  const onLegend = useCallback(
    (row: TrackRow | null, at?: DOMRect) => {
      const source = latest.current.sources.find(({ worker }) => worker === row?.track.worker);
      const content = row && source && rendererOf(row.track).legend?.(row.track, source);
      setLegend(content && at ? { content, x: at.right, y: at.bottom } : null);
    },
    [latest],
  );
  useWindow(props, state?.window);
  useEffect(() => {
    if (!state || state.loading) return;
    const timer = setTimeout(() => latest.current.onSettled(), SETTLE_MS);
    return () => clearTimeout(timer);
  }, [state, latest]);
  useKeys(latest, stage);
  return (
    <div className="timeline" aria-busy={state?.loading ?? true}>
      <div className="timeline-top">
        {props.lead}
        <Strip
          data={props.strip}
          colors={colors}
          whole={whole}
          window={state?.window ?? wanted}
          onWindow={(next) => stage.current?.look(next)}
        />
      </div>
      <div className="timeline-head" style={{ height: AXIS }}>
        <input
          type="text"
          className="timeline-filter"
          aria-label={timelineTexts.filter}
          placeholder={timelineTexts.filter}
          autoComplete="off"
          spellCheck={false}
          value={props.filter}
          onChange={(event) => props.onFilter(event.target.value)}
        />
        {/* biome-ignore lint/a11y/noAriaHiddenOnFocusable: a canvas takes no focus */}
        <canvas ref={axis} aria-hidden="true" />
      </div>
      <div
        ref={scroller}
        className="timeline-scroll"
        role="application"
        aria-roledescription={timelineTexts.role}
        aria-label={props.title}
        aria-describedby={hint}
        tabIndex={0}
        style={{ "--rows": `${Math.max(rows.height + END, 120)}px` } as CSSProperties}
      >
        <div className="timeline-content" style={{ height: rows.height + END }}>
          <Labels
            rows={rows}
            top={view.top}
            height={view.height}
            onAction={props.onTrack}
            onDrop={props.onDrop}
            onLegend={onLegend}
          />
          <div className="timeline-end" style={{ top: rows.height, height: END }}>
            {props.end}
          </div>
          <canvas ref={canvas} className={`timeline-canvas ${hover ? "over" : ""} ${props.tool}`} />
        </div>
      </div>
      {rows.rows.length === 0 && <p className="muted">{timelineTexts.noTracks}</p>}
      <p id={hint} className="visually-hidden">
        {timelineTexts.hint}
      </p>
      <Spoken {...props} />
      <Foot state={state} sources={sources} rows={rows} onShowAll={props.onShowAll} />
      {hover && <PointerTip content={hover.hit.tip(whole)} x={hover.x} y={hover.y} />}
      {legend && !hover && <PointerTip {...legend} />}
    </div>
  );
}

/** What the colours of a track mean, beside its name. */
interface Legend {
  readonly content: TooltipContent;
  readonly x: number;
  readonly y: number;
}

/** What is selected, for those who do not see it. */
function Spoken({
  selected,
  selectedName,
  whole,
}: Pick<TimelineProps, "selected" | "selectedName" | "whole">) {
  return (
    <p className="visually-hidden" role="status">
      {selected
        ? timelineTexts.spoken(
            selectedName,
            momentIn(selected.start, whole, 1e6),
            duration(selected.duration),
          )
        : ""}
    </p>
  );
}

interface FootProps extends Pick<TimelineProps, "sources" | "rows" | "onShowAll"> {
  readonly state: StageState | null;
}

/** What is not in the picture, or not yet. */
function Foot({ state, sources, rows, onShowAll }: FootProps) {
  return (
    <div className="timeline-foot">
      {rows.left > 0 && (
        <span>
          {timelineTexts.left(count(rows.left))}{" "}
          <Link onClick={onShowAll}>{timelineTexts.showAll}</Link>
        </span>
      )}
      {state?.coarse && <span role="status">{timelineTexts.coarse}</span>}
      {state?.failure != null && (
        <span role="alert">
          {timelineTexts.failed}{" "}
          <span className="muted">
            {state.failure instanceof Error ? state.failure.message : ""}
          </span>{" "}
          <Link
            onClick={() => {
              for (const source of sources) source.retry();
            }}
          >
            {timelineTexts.retry}
          </Link>
        </span>
      )}
    </div>
  );
}

interface Elements {
  readonly canvas: RefObject<HTMLCanvasElement | null>;
  readonly axis: RefObject<HTMLCanvasElement | null>;
  readonly scroller: RefObject<HTMLDivElement | null>;
}

interface Hover {
  readonly hit: Hit;
  readonly x: number;
  readonly y: number;
}

/** The picture, made once, when the colours are known, and told whatever it is to show. */
function useStage(
  props: TimelineProps,
  colors: Colors | null,
  { canvas, axis, scroller }: Elements,
) {
  const { stage } = props;
  const latest = useLatest(props);
  const [state, setState] = useState<StageState | null>(null);
  const [view, setView] = useState({ top: 0, height: 600 });
  const [hover, setHover] = useState<Hover | null>(null);
  const [dragged, setDragged] = useState<Mark | null>(null);
  const shown = useShown(props, colors, dragged);
  const latestShown = useLatest(shown);
  useEffect(() => {
    if (shown) stage.current?.show(shown);
  });
  const isReady = colors !== null;
  useEffect(() => {
    const [picture, head, view] = [canvas.current, axis.current, scroller.current];
    if (!isReady || !latestShown.current || !picture || !head || !view) return;
    let hands: ReturnType<typeof gestures> | null = null;
    const made = new Stage({ canvas: picture, axis: head, scroller: view }, latestShown.current, {
      onState: setState,
      onScroll: (top, height) => {
        setView((old) => (old.top === top && old.height === height ? old : { top, height }));
        hands?.again();
      },
    });
    made.look(latest.current.window);
    stage.current = made;
    hands = gestures(picture, made, {
      tool: () => latest.current.tool,
      onPick: (hit, extend) => latest.current.onSelect(hit?.picked ?? null, extend),
      onOpen: (hit) => {
        const slice = sliceOf(hit.picked);
        if (slice) made.fit({ start: slice.start, end: slice.start + slice.duration });
      },
      onMark: (next, done) => {
        setDragged(done ? null : next);
        if (done) latest.current.onMark(next);
      },
      onHover: (hit, x, y) => setHover(hit && { hit, x, y }),
    });
    return () => {
      hands?.stop();
      made.close();
      stage.current = null;
    };
  }, [isReady, canvas, axis, scroller, stage, latest, latestShown]);
  return { state, view, hover };
}

/** What the picture shows; null until the colours are known. */
function useShown(
  { sources, rows, whole, look, selected, from, peers, mark, flags, steps, flows }: TimelineProps,
  colors: Colors | null,
  dragged: Mark | null,
): Shown | null {
  return useMemo(
    () =>
      colors && {
        ...{ sources, rows, whole, look, selected, from, peers },
        ...{ mark: dragged ?? mark, flags, steps, flows, colors },
      },
    [sources, rows, whole, look, selected, from, peers, dragged, mark, flags, steps, flows, colors],
  );
}

/** Has the picture show what is wanted from outside, and says where the user went when they rest. */
function useWindow(props: TimelineProps, seen: TimeWindow | undefined): void {
  const { window: wanted, stage } = props;
  const latest = useLatest(props);
  const told = useRef<TimeWindow>(wanted);
  // From outside: the address, a button, Back.
  useEffect(() => {
    if (sameTimes(wanted, told.current)) return;
    told.current = wanted;
    stage.current?.look(wanted);
  }, [wanted, stage]);
  useEffect(() => {
    if (!seen || sameTimes(seen, told.current)) return;
    const timer = setTimeout(() => {
      told.current = seen;
      latest.current.onWindow(seen);
    }, SETTLE_MS);
    return () => clearTimeout(timer);
  }, [seen, latest]);
}

/** The keys of the timeline, wherever the focus is that does not need them itself. */
function useKeys(latest: RefObject<TimelineProps>, stage: RefObject<Stage | null>): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const at = stage.current;
      if (event.defaultPrevented || !at || !isFree(event.target)) return;
      const action = keyAction(event);
      if (!action) return;
      const inside = event.target instanceof Element && event.target.closest(".timeline") !== null;
      switch (action.type) {
        case "zoom":
          at.zoom(action.factor);
          break;
        case "pan":
          at.panShare(action.share);
          break;
        case "scroll":
          if (!inside) return;
          at.scrollShare(action.share);
          break;
        case "neighbour":
        case "depth":
        case "inspect":
          // Elsewhere these keys scroll the page and press what has the focus.
          if (!inside || event.target instanceof HTMLButtonElement) return;
          latest.current.onAction(action);
          break;
        case "back":
          // The page clears its own selection, too.
          latest.current.onAction(action);
          return;
        default:
          latest.current.onAction(action);
      }
      event.preventDefault();
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, [latest, stage]);
}

/** False where letters are text, and in what has keys of its own. */
function isFree(target: EventTarget | null): boolean {
  if (!(target instanceof Element)) return true;
  if (document.querySelector("dialog[open]")) return false;
  return !target.closest(
    "input, textarea, select, [contenteditable], [role=grid], [role=treegrid], [role=listbox], [role=slider], [role=separator]",
  );
}
