import {
  type KeyboardEvent,
  type MouseEvent,
  type PointerEvent,
  useCallback,
  useMemo,
  useRef,
  useState,
} from "react";
import { contains, lastUpTo, momentIn, span, type TimeWindow, type TooltipContent } from "../draw";
import { count } from "../format";
import { chartsTexts } from "../i18n";
import { Chart, type ChartProps } from "./Chart";
import type { SceneTheme } from "./scene";
import { PLOT, type TimeCurveData, timeCurvePicture, timeOf } from "./scenes/timeCurve";
import { spokenTip, Tip } from "./Tip";
import "./timeCurve.css";

const text = chartsTexts.curve;

/** Less movement than this between press and release is a click. */
const DRAG_PIXELS = 4;
const DOUBLE_CLICK_MS = 400;
const SLIDER_STEPS = 1000;
/** No ring around what the pointer has not pointed at. */
const BY_POINTER = { preventScroll: true, focusVisible: false };
/** Of the style sheet: the thumb's middle is at the moment, also at both ends. */
const HALF_THUMB = 7;

export interface TimeCurveProps
  extends Pick<ChartProps, "title" | "summary" | "head" | "texts" | "rows" | "legend" | "onToggle">,
    TimeCurveData {
  /** Pixels. */
  readonly height?: number;
  /** What is shown is a part of what there is. */
  readonly zoomed: boolean;
  /** Null: back to everything. */
  readonly onWindow: (window: TimeWindow | null) => void;
  /** The moment that is meant as long as none is chosen. */
  readonly moment: number;
  readonly onCursor: (time: number | null) => void;
  /** In order, where the arrow keys go to; without them a thousandth of what is shown. */
  readonly stops?: readonly number[];
  /** What is to be said about a moment, and about a value of it that is pointed at. */
  readonly readout: (time: number, value: number | null) => TooltipContent;
}

/**
 * Step functions and stacked areas over time. Dragging zooms, a right click, a double click or Esc goes back, a click
 * sets the cursor; the slider below the plot does so by keyboard. `TimeRange` zooms by keyboard.
 */
export function TimeCurve(props: TimeCurveProps) {
  const { height = 300, areas, lines, y, events, marks, spans, window, counted, cursor } = props;
  const slider = useRef<HTMLInputElement>(null);
  const build = useCallback(
    (theme: SceneTheme, width: number) => {
      const data = { areas, lines, window, counted, y, events, marks, spans, cursor };
      return timeCurvePicture(data, theme, width, height);
    },
    [areas, lines, window, counted, y, events, marks, spans, cursor, height],
  );
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Escape" || event.defaultPrevented) return;
    if (props.zoomed) props.onWindow(null);
    else if (cursor !== null) props.onCursor(null);
    else return;
    // The page's own Escape would clear the selection as well.
    event.preventDefault();
  };
  const { title, summary, head, texts, rows, legend, onToggle } = props;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: hears the keys of the slider inside
    <div className="time-curve" onKeyDown={onKeyDown}>
      <Chart {...{ title, summary, height, build, head, texts, rows, legend, onToggle }}>
        <Plot {...props} height={height} focus={() => slider.current?.focus(BY_POINTER)} />
        <Slider {...props} ref={slider} />
      </Chart>
    </div>
  );
}

interface PlotProps extends TimeCurveProps {
  readonly height: number;
  readonly focus: () => void;
}

/** Lies over the picture and hears the pointer; all it does can be done by keyboard elsewhere. */
function Plot(props: PlotProps) {
  const { window, y } = props;
  const { hover, drag, ...handlers } = useGestures(props);
  const plotHeight = props.height - PLOT.top - PLOT.bottom;
  const dragged = drag && Math.abs(drag.to - drag.from) >= DRAG_PIXELS ? drag : null;
  return (
    <div
      role="presentation"
      className="time-curve-plot"
      style={{ left: PLOT.left, right: PLOT.right, top: PLOT.top, height: plotHeight }}
      {...handlers}
    >
      {dragged && <Dragged {...dragged} window={window} counted={props.counted} />}
      {hover && !drag && (
        <>
          <div className="time-curve-hair" style={{ left: hover.x }} />
          <Tip
            x={hover.x}
            width={hover.width}
            y={0}
            height={plotHeight}
            className="time-curve-readout"
            content={props.readout(
              timeOf(hover.x, window, hover.width),
              y.max - (hover.y / plotHeight) * (y.max - y.min),
            )}
          />
        </>
      )}
    </div>
  );
}

interface Drag {
  readonly from: number;
  readonly to: number;
  /** Of the plot. */
  readonly width: number;
}

/** What the pointer does over the plot: where it is, what it drags over, and what hears it. */
function useGestures({ window, zoomed, cursor, onCursor, onWindow, focus }: PlotProps) {
  const [hover, setHover] = useState<{ x: number; y: number; width: number } | null>(null);
  const [drag, setDrag] = useState<Drag | null>(null);
  const click = useRef({ at: Number.NEGATIVE_INFINITY, before: null as number | null });
  const place = (event: PointerEvent) => {
    const { left, top, width } = event.currentTarget.getBoundingClientRect();
    return {
      x: Math.min(width, Math.max(0, event.clientX - left)),
      y: event.clientY - top,
      width,
    };
  };
  return {
    hover,
    drag,
    onPointerDown: (event: PointerEvent) => {
      if (event.button !== 0) return;
      event.currentTarget.setPointerCapture(event.pointerId);
      const { x, width } = place(event);
      setDrag({ from: x, to: x, width });
      setHover(null);
      // Keeps the focus, which would go to the page, where Esc and the arrow keys act on this curve.
      event.preventDefault();
      focus();
    },
    onPointerMove: (event: PointerEvent) => {
      const at = place(event);
      if (drag) setDrag({ ...drag, to: at.x });
      else setHover(at);
    },
    onPointerUp: (event: PointerEvent) => {
      if (!drag) return;
      setDrag(null);
      const { from, width } = drag;
      // Where it is released, not where it was last drawn: the last move may not have been drawn yet.
      const to = place(event).x;
      const [left, right] = [Math.min(from, to), Math.max(from, to)];
      if (right - left >= DRAG_PIXELS) {
        onWindow({ start: timeOf(left, window, width), end: timeOf(right, window, width) });
        return;
      }
      // The second press of a double click sets nothing, and what the first one did is taken back.
      if (event.timeStamp - click.current.at < DOUBLE_CLICK_MS) return;
      click.current = { at: event.timeStamp, before: cursor };
      onCursor(timeOf(to, window, width));
    },
    onPointerCancel: () => setDrag(null),
    onPointerLeave: () => setHover(null),
    onDoubleClick: () => {
      onCursor(click.current.before);
      onWindow(null);
    },
    onContextMenu: (event: MouseEvent) => {
      if (!zoomed) return;
      event.preventDefault();
      onWindow(null);
    },
  };
}

type DraggedProps = Drag & Pick<TimeCurveProps, "window" | "counted">;

/** What is dragged over, and how much that is. */
function Dragged({ from, to, width, window, counted }: DraggedProps) {
  const length = Math.abs(timeOf(to, window, width) - timeOf(from, window, width));
  return (
    <div
      className="time-curve-drag"
      style={{ left: Math.min(from, to), width: Math.abs(to - from) }}
    >
      <span>{counted ? count(length) : momentIn(length, { start: 0, end: span(window) })}</span>
    </div>
  );
}

interface SliderProps extends TimeCurveProps {
  readonly ref: React.Ref<HTMLInputElement>;
}

const BY_KEY: Readonly<Record<string, number>> = {
  ArrowLeft: -1,
  ArrowDown: -1,
  ArrowRight: 1,
  ArrowUp: 1,
};

/** The chosen moment as a slider along the x axis. */
function Slider({ ref, window, cursor, moment, stops, readout, onCursor }: SliderProps) {
  const time = cursor ?? moment;
  const shown = Math.min(window.end, Math.max(window.start, time));
  const spoken = useMemo(
    () => spokenTip({ ...readout(time, null), subtitle: "" }),
    [readout, time],
  );
  const onKeyDown = (event: KeyboardEvent) => {
    const by = BY_KEY[event.key];
    if (!stops || by === undefined) return;
    event.preventDefault();
    const next = stops[lastUpTo(stops, shown) + by];
    if (next !== undefined) onCursor(next);
  };
  return (
    <input
      ref={ref}
      type="range"
      className={cursor === null ? "time-curve-slider resting" : "time-curve-slider"}
      style={{ marginInline: `${PLOT.left - HALF_THUMB}px ${PLOT.right - HALF_THUMB}px` }}
      aria-label={text.cursor}
      aria-valuetext={contains(window, time) ? spoken : text.outside(spoken)}
      title={text.cursorHint}
      min={window.start}
      max={window.end}
      step={Math.max(1, Math.round(span(window) / SLIDER_STEPS))}
      value={shown}
      onKeyDown={onKeyDown}
      onChange={(event) => onCursor(Number(event.target.value))}
    />
  );
}
