import {
  type KeyboardEvent,
  type MouseEvent,
  type PointerEvent,
  useCallback,
  useMemo,
  useRef,
  useState,
} from "react";
import { type Axis, contains, momentIn, span, type TimeWindow, type TooltipContent } from "../draw";
import { chartsTexts } from "../i18n";
import { Chart, type ChartProps } from "./Chart";
import { Legend } from "./Legend";
import type { SceneTheme } from "./scene";
import { PLOT, timeCurvePicture, timeOf } from "./scenes/timeCurve";
import { spokenTip, Tip } from "./Tip";
import type { CurveLine, CurveMark, CurveSpan } from "./types";
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

export interface TimeCurveProps extends Pick<ChartProps, "title" | "summary" | "head" | "rows"> {
  /** Pixels. */
  readonly height?: number;
  readonly lines: readonly CurveLine[];
  readonly y: Axis;
  readonly marks: readonly CurveMark[];
  readonly spans: readonly CurveSpan[];
  /** What is shown. */
  readonly window: TimeWindow;
  /** It is a part of what there is. */
  readonly zoomed: boolean;
  /** Null: back to everything. */
  readonly onWindow: (window: TimeWindow | null) => void;
  /** The chosen moment, if any, and the one that is meant as long as there is none. */
  readonly cursor: number | null;
  readonly moment: number;
  readonly onCursor: (time: number | null) => void;
  /** What is to be said about a moment. */
  readonly readout: (time: number) => TooltipContent;
  /** Which line is which, and those that are not drawn now; `lines` are the others. */
  readonly legend: readonly CurveEntry[];
  readonly onToggle: (key: string) => void;
}

export interface CurveEntry extends Pick<CurveLine, "key" | "label" | "color" | "dashed"> {
  readonly shown: boolean;
}

/**
 * Step functions over time. Dragging zooms, a right click, a double click or Esc goes back, a click sets the cursor;
 * the slider below the plot does so by keyboard. `TimeRange` zooms by keyboard.
 */
export function TimeCurve(props: TimeCurveProps) {
  const { title, summary, height = 300, lines, y, marks, spans, window, cursor, onWindow } = props;
  const slider = useRef<HTMLInputElement>(null);
  const build = useCallback(
    (theme: SceneTheme, width: number) =>
      timeCurvePicture({ lines, window, y, marks, spans, cursor }, theme, width, height),
    [lines, window, y, marks, spans, cursor, height],
  );
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Escape" || event.defaultPrevented) return;
    if (props.zoomed) onWindow(null);
    else if (cursor !== null) props.onCursor(null);
    else return;
    // The page's own Escape would clear the selection as well.
    event.preventDefault();
  };
  const entries = props.legend.map((entry) => ({
    ...entry,
    line: entry.dashed ? ("dashed" as const) : ("solid" as const),
  }));
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: hears the keys of the slider inside
    <div className="time-curve" onKeyDown={onKeyDown}>
      <Chart
        title={title}
        summary={summary}
        height={height}
        build={build}
        head={props.head}
        rows={props.rows}
      />
      <Plot {...props} height={height} focus={() => slider.current?.focus(BY_POINTER)} />
      <Slider {...props} ref={slider} />
      <Legend label={text.lines} entries={entries} onToggle={props.onToggle} />
    </div>
  );
}

interface PlotProps extends TimeCurveProps {
  readonly height: number;
  readonly focus: () => void;
}

/** Lies over the picture and hears the pointer; all it does can be done by keyboard elsewhere. */
function Plot(props: PlotProps) {
  const { window, zoomed, cursor, onCursor, onWindow } = props;
  const [hover, setHover] = useState<{ x: number; width: number } | null>(null);
  const [drag, setDrag] = useState<{ from: number; to: number; width: number } | null>(null);
  const click = useRef({ at: Number.NEGATIVE_INFINITY, before: null as number | null });

  const place = (event: PointerEvent) => {
    const { left, width } = event.currentTarget.getBoundingClientRect();
    return { x: Math.min(width, Math.max(0, event.clientX - left)), width };
  };
  const onPointerDown = (event: PointerEvent) => {
    if (event.button !== 0) return;
    event.currentTarget.setPointerCapture(event.pointerId);
    const { x, width } = place(event);
    setDrag({ from: x, to: x, width });
    setHover(null);
    // Keeps the focus, which would go to the page, where Esc and the arrow keys act on this curve.
    event.preventDefault();
    props.focus();
  };
  const onPointerMove = (event: PointerEvent) => {
    const at = place(event);
    if (drag) setDrag({ ...drag, to: at.x });
    else setHover(at);
  };
  const onPointerUp = (event: PointerEvent) => {
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
  };
  const onDoubleClick = () => {
    onCursor(click.current.before);
    onWindow(null);
  };
  const onContextMenu = (event: MouseEvent) => {
    if (!zoomed) return;
    event.preventDefault();
    onWindow(null);
  };

  const plotHeight = props.height - PLOT.top - PLOT.bottom;
  const dragged = drag && Math.abs(drag.to - drag.from) >= DRAG_PIXELS ? drag : null;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: for the pointer only, see above
    <div
      role="presentation"
      className="time-curve-plot"
      style={{
        left: PLOT.left,
        right: PLOT.right,
        top: PLOT.top,
        height: plotHeight,
      }}
      onPointerDown={onPointerDown}
      onPointerMove={onPointerMove}
      onPointerUp={onPointerUp}
      onPointerCancel={() => setDrag(null)}
      onPointerLeave={() => setHover(null)}
      onDoubleClick={onDoubleClick}
      onContextMenu={onContextMenu}
    >
      {dragged && (
        <div
          className="time-curve-drag"
          style={{
            left: Math.min(dragged.from, dragged.to),
            width: Math.abs(dragged.to - dragged.from),
          }}
        >
          <span>
            {momentIn(
              Math.abs(
                timeOf(dragged.to, window, dragged.width) -
                  timeOf(dragged.from, window, dragged.width),
              ),
              { start: 0, end: span(window) },
            )}
          </span>
        </div>
      )}
      {hover && !drag && (
        <>
          <div className="time-curve-hair" style={{ left: hover.x }} />
          <Tip
            {...hover}
            y={0}
            height={plotHeight}
            className="time-curve-readout"
            content={props.readout(timeOf(hover.x, window, hover.width))}
          />
        </>
      )}
    </div>
  );
}

interface SliderProps extends TimeCurveProps {
  readonly ref: React.Ref<HTMLInputElement>;
}

/** The chosen moment as a slider along the x axis. */
function Slider({ ref, window, cursor, moment, readout, onCursor }: SliderProps) {
  const time = cursor ?? moment;
  const shown = Math.min(window.end, Math.max(window.start, time));
  const spoken = useMemo(() => {
    const { title, lines } = readout(time);
    return spokenTip({ title, lines });
  }, [readout, time]);
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
      onChange={(event) => onCursor(Number(event.target.value))}
    />
  );
}
