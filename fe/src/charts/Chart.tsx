import { type KeyboardEvent, type MouseEvent, type ReactNode, useState } from "react";
import type { TooltipContent } from "../draw";
import { Actions } from "./Actions";
import { type ChartRow, ChartTable } from "./ChartTable";
import { keyTarget } from "./keys";
import { LEGEND_LABEL, Legend, type LegendEntry } from "./Legend";
import { fitted, shorten } from "./labels";
import type { Marks, Picture, SceneTheme } from "./scene";
import { spokenTip, Tip } from "./Tip";
import { type Brush, useBrush } from "./useBrush";
import { usePicture } from "./usePicture";
import "./charts.css";

export interface ChartProps {
  readonly title: string;
  /** What a person who does not see the picture should know. */
  readonly summary: string;
  readonly height: number;
  readonly build: (theme: SceneTheme, width: number) => Picture<Marks>;
  /** What is said about each mark of the picture, by pointer and by keyboard. */
  readonly tips?: Tips;
  readonly onPick?: ((index: number) => void) | undefined;
  /** Between the picture and its legend. */
  readonly children?: ReactNode;
  /** How to go through it by keyboard, for people who hear it. */
  readonly keys?: string;
  /** What a key does besides, at a mark; true if it does something. */
  readonly onKey?: (key: string, at: number) => boolean;
  /** What dragging over the picture does. */
  readonly onBrush?: (brush: Brush) => void;
  readonly legend?: readonly LegendEntry[];
  readonly onToggle?: ((key: string) => void) | undefined;
  readonly legendAt?: "above" | "below" | "beside" | "line";
  /** The same numbers as a table. */
  readonly head: readonly string[];
  /** How many of the first columns are text; the others are numbers. */
  readonly texts?: number;
  /** A function where making them costs much: most people look at the picture only. */
  readonly rows: readonly ChartRow[] | (() => readonly ChartRow[]);
}

interface Tips {
  readonly count: number;
  readonly content: (index: number) => TooltipContent;
}

/** The frame of every standard chart. Expects `build` to keep its identity while it means the same. */
export function Chart(props: ChartProps) {
  const { title, height, build, tips, legend = [], legendAt = "below" } = props;
  const drawn = usePicture({ title, height, legend, build });
  const { width, theme, picture } = drawn;
  const [asTable, setAsTable] = useState(false);
  const [cursor, setCursor] = useState(0);
  const [isReached, setReached] = useState(false);
  const at = Math.min(cursor, (tips?.count ?? 0) - 1);
  const shownLegend =
    legendAt === "beside" && theme ? legend.map((entry) => cut(entry, width, theme)) : legend;
  return (
    <figure className={`chart legend-${legendAt}${asTable ? " as-table" : ""}`}>
      <Actions asTable={asTable} onTable={setAsTable} onSave={drawn.save} />
      {asTable && (
        <ChartTable title={title} head={props.head} texts={props.texts ?? 1} rows={props.rows} />
      )}
      <div className="chart-box" style={{ height: asTable ? 0 : height }}>
        <Surface
          {...props}
          drawn={drawn}
          reached={isReached ? at : null}
          onPick={(index) => {
            setCursor(index);
            props.onPick?.(index);
          }}
          pickable={props.onPick !== undefined}
        />
        {!asTable && tips && tips.count > 0 && (
          <Keys
            {...props}
            tips={tips}
            at={at}
            move={picture?.move}
            onMove={setCursor}
            onReach={setReached}
          />
        )}
      </div>
      {!asTable && props.children}
      {!asTable && legend.length > 0 && (
        <Legend label={LEGEND_LABEL} entries={shownLegend} onToggle={props.onToggle} />
      )}
    </figure>
  );
}

interface SurfaceProps extends Pick<ChartProps, "summary" | "height" | "tips" | "onBrush"> {
  readonly drawn: ReturnType<typeof usePicture>;
  /** By keyboard. */
  readonly reached: number | null;
  readonly pickable: boolean;
  readonly onPick: (index: number) => void;
}

/** The picture itself, and what the pointer does over it. */
function Surface(props: SurfaceProps) {
  const { drawn, summary, height, tips, reached, pickable, onPick, onBrush } = props;
  const { box, canvas, width, picture } = drawn;
  const [pointed, setPointed] = useState<Place | null>(null);
  const { brush, isPressed, move, handlers, wasBrush } = useBrush(onBrush);
  const placeOf = (event: MouseEvent): Place | null => {
    const { left, top } = event.currentTarget.getBoundingClientRect();
    const [x, y] = [event.clientX - left, event.clientY - top];
    const index = picture?.at(x, y) ?? null;
    return index === null ? null : { index, x, y };
  };
  const look = onBrush ? " brushable" : pickable && pointed ? " pickable" : "";
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are heard by `Keys`
    <div
      ref={box}
      role="img"
      aria-label={summary}
      className={`chart-picture${look}`}
      onPointerMove={(event) => {
        if (tips) setPointed(placeOf(event));
        move(event);
      }}
      onPointerLeave={() => setPointed(null)}
      {...handlers}
      // A tap and a pointer that has not moved since the page changed come without a move before.
      onClick={(event) => {
        const place = wasBrush.current ? null : placeOf(event);
        if (place) onPick(place.index);
      }}
    >
      {picture && <canvas ref={canvas} style={{ width: "100%", height }} />}
      {picture && tips && !isPressed && (
        <Pointed {...{ picture, tips, pointed, reached, width, height }} />
      )}
      {brush && (
        <span
          className="chart-brush"
          style={{ left: brush.left, width: brush.right - brush.left }}
        />
      )}
    </div>
  );
}

/** Pixels of a swatch, a share and the gaps between. */
const BEFORE_LABEL = 96;
/** Of the style sheet: how much wider than the picture a legend beside it is. */
const BESIDE = 52 / 48;

/** With both ends of a long name: those of kernels differ at the end. */
function cut(entry: LegendEntry, width: number, { measure }: SceneTheme): LegendEntry {
  const room = Math.max(60, width * BESIDE - BEFORE_LABEL);
  return { ...entry, label: fitted(entry.label, room, measure, shorten), title: entry.label };
}

interface Place {
  readonly index: number;
  readonly x: number;
  readonly y: number;
}

interface PointedProps {
  readonly picture: Picture<Marks>;
  readonly tips: Tips;
  /** By pointer, which goes before what keys have reached. */
  readonly pointed: Place | null;
  readonly reached: number | null;
  /** Of the picture. */
  readonly width: number;
  readonly height: number;
}

/** The outline of the mark that is pointed at, and what is said about it. */
function Pointed({ picture, tips, pointed, reached, width, height }: PointedProps) {
  const index = pointed?.index ?? reached;
  const mark = index === null ? null : picture.marks.at(index);
  if (index === null || index >= tips.count || !mark) return null;
  const { x, y } = pointed ?? mark;
  return (
    <>
      <svg className={pointed ? "chart-mark" : "chart-mark reached"} aria-hidden="true">
        {/* In a picture that is scrolled, what the keys reach comes into sight. */}
        <path key={index} d={mark.outline} ref={pointed ? null : comeIntoSight} />
      </svg>
      <Tip content={tips.content(index)} {...{ x, y, width, height }} />
    </>
  );
}

/** After the browser has scrolled to the focus, which is as large as the picture. */
function comeIntoSight(element: Element | null): void {
  requestAnimationFrame(() => element?.scrollIntoView?.({ block: "nearest" }));
}

interface KeysProps extends Pick<ChartProps, "title" | "keys" | "onKey" | "onPick"> {
  readonly tips: Tips;
  readonly at: number;
  readonly move: Picture["move"];
  readonly onMove: (to: number) => void;
  /** Whether it has the focus. */
  readonly onReach: (reached: boolean) => void;
}

/** Goes from mark to mark by keyboard. It lies over the picture and lets the pointer through. */
function Keys({ title, keys, tips, at, move, onMove, onReach, onKey, onPick }: KeysProps) {
  const acts = (key: string): boolean => {
    if (onKey?.(key, at)) return true;
    const to = move ? move(key, at) : keyTarget(key, at, tips.count);
    if (to !== null) onMove(Math.max(0, Math.min(tips.count - 1, to)));
    else if (onPick && (key === "Enter" || key === " ")) onPick(at);
    else return false;
    return true;
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (acts(event.key)) event.preventDefault();
  };
  return (
    <div
      className="chart-keys"
      role="slider"
      tabIndex={0}
      aria-label={title}
      aria-description={keys}
      aria-valuemin={1}
      aria-valuemax={tips.count}
      aria-valuenow={at + 1}
      aria-valuetext={spokenTip(tips.content(at))}
      onKeyDown={onKeyDown}
      onFocus={() => onReach(true)}
      onBlur={() => onReach(false)}
    />
  );
}
