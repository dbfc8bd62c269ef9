import { type KeyboardEvent, type MouseEvent, useLayoutEffect, useRef, useState } from "react";
import { type TooltipContent, useBoxWidth } from "../draw";
import { useTheme } from "../host";
import { Actions } from "./Actions";
import { type ChartRow, ChartTable } from "./ChartTable";
import { keyTarget } from "./keys";
import { LEGEND_LABEL, Legend, type LegendEntry, legendScene } from "./Legend";
import { fitted, shorten } from "./labels";
import { type FileKind, paintCanvas, savePicture } from "./paint";
import { type Picture, type SceneTheme, sceneTheme } from "./scene";
import { spokenTip, Tip } from "./Tip";
import "./charts.css";

export interface ChartProps {
  readonly title: string;
  /** What a person who does not see the picture should know. */
  readonly summary: string;
  readonly height: number;
  readonly build: (theme: SceneTheme, width: number) => Picture;
  /** What is said about each mark of the picture, by pointer and by keyboard. */
  readonly tips?: Tips;
  readonly onPick?: ((index: number) => void) | undefined;
  readonly legend?: readonly LegendEntry[];
  readonly onToggle?: (key: string) => void;
  readonly legendAt?: "above" | "below" | "beside";
  /** The same numbers as a table. */
  readonly head: readonly string[];
  /** How many of the first columns are text; the others are numbers. */
  readonly texts?: number;
  /** A function where making them costs much: most people look at the picture only. */
  readonly rows: readonly ChartRow[] | (() => readonly ChartRow[]);
}

export interface Tips {
  readonly count: number;
  readonly content: (index: number) => TooltipContent;
}

/** The frame of every standard chart. Expects `build` to keep its identity while it means the same. */
export function Chart(props: ChartProps) {
  const { title, summary, height, build, tips, onPick, legend = [], legendAt = "below" } = props;
  const { box, width } = useBoxWidth();
  const canvas = useRef<HTMLCanvasElement>(null);
  const theme = useTheme();
  const [asTable, setAsTable] = useState(false);
  const [drawn, setDrawn] = useState<Drawn | null>(null);
  const [pointed, setPointed] = useState<Pointed | null>(null);
  const [reached, setReached] = useState<number | null>(null);

  // Before the canvas can be seen, as a click on it asks the picture what lies there.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the theme is read from the page's computed style
  useLayoutEffect(() => {
    if (!box.current || width === 0) return;
    const colors = sceneTheme(box.current);
    const made = build(colors, width);
    paintCanvas(canvas.current, width, height, made.shapes, colors);
    setDrawn({ picture: made, measure: colors.measure });
  }, [build, width, height, theme, box]);

  const save = (kind: FileKind) => {
    if (!box.current) return;
    const colors = sceneTheme(box.current);
    const below = legendScene(legend, width, height, colors);
    const shapes = [...build(colors, width).shapes, ...below.shapes];
    savePicture(kind, title, shapes, width, height + below.height, colors);
  };

  const picture = drawn?.picture ?? null;
  const placeOf = (event: MouseEvent): Pointed | null => {
    const { left, top } = event.currentTarget.getBoundingClientRect();
    const [x, y] = [event.clientX - left, event.clientY - top];
    const index = picture?.at(x, y) ?? null;
    return index === null ? null : { index, x, y };
  };
  const tip = tips ? (pointed ?? markPlace(picture, reached)) : null;
  const shownLegend =
    legendAt === "beside" && drawn ? legend.map((entry) => cut(entry, width, drawn)) : legend;
  const pickable = onPick && pointed !== null;
  return (
    <figure className={`chart legend-${legendAt}${asTable ? " as-table" : ""}`}>
      <Actions asTable={asTable} onTable={setAsTable} onSave={save} />
      {asTable && (
        <ChartTable title={title} head={props.head} texts={props.texts ?? 1} rows={props.rows} />
      )}
      <div className="chart-box" style={{ height: asTable ? 0 : height }}>
        {/* biome-ignore lint/a11y/useKeyWithClickEvents: the keys are heard by `Marks` */}
        <div
          ref={box}
          role="img"
          aria-label={summary}
          className={pickable ? "chart-picture pickable" : "chart-picture"}
          onPointerMove={tips && ((event) => setPointed(placeOf(event)))}
          onPointerLeave={() => setPointed(null)}
          // A tap and a pointer that has not moved since the page changed come without a move before.
          onClick={(event) => {
            const place = placeOf(event);
            if (place) onPick?.(place.index);
          }}
        >
          {width > 0 && <canvas ref={canvas} style={{ width: "100%", height }} />}
          {tip && (
            <svg className="chart-mark" aria-hidden="true">
              <path d={picture?.marks[tip.index]?.outline} />
            </svg>
          )}
          {tip && tips && tip.index < tips.count && (
            <Tip content={tips.content(tip.index)} {...tip} width={width} height={height} />
          )}
        </div>
        {tips && tips.count > 0 && (
          <Marks title={title} tips={tips} onReach={setReached} onPick={onPick} />
        )}
      </div>
      {!asTable && legend.length > 0 && (
        <Legend label={LEGEND_LABEL} entries={shownLegend} onToggle={props.onToggle} />
      )}
    </figure>
  );
}

interface Drawn {
  readonly picture: Picture;
  readonly measure: SceneTheme["measure"];
}

/** Pixels of a swatch, a share and the gaps between. */
const BEFORE_LABEL = 96;
/** Of the style sheet: how much wider than the picture a legend beside it is. */
const BESIDE = 52 / 48;

/** With both ends of a long name: those of kernels differ at the end. */
function cut(entry: LegendEntry, width: number, { measure }: Drawn): LegendEntry {
  const room = Math.max(60, width * BESIDE - BEFORE_LABEL);
  return { ...entry, label: fitted(entry.label, room, measure, shorten), title: entry.label };
}

interface Pointed {
  readonly index: number;
  readonly x: number;
  readonly y: number;
}

function markPlace(picture: Picture | null, index: number | null): Pointed | null {
  const mark = index === null ? null : picture?.marks[index];
  return mark && index !== null ? { index, x: mark.x, y: mark.y } : null;
}

interface MarksProps {
  readonly title: string;
  readonly tips: Tips;
  /** Null: the focus has left. */
  readonly onReach: (index: number | null) => void;
  readonly onPick: ((index: number) => void) | undefined;
}

/** Goes from mark to mark by keyboard. It lies over the picture and lets the pointer through. */
function Marks({ title, tips, onReach, onPick }: MarksProps) {
  const [cursor, setCursor] = useState(0);
  const at = Math.min(cursor, tips.count - 1);
  const go = (to: number) => {
    const next = Math.max(0, Math.min(tips.count - 1, to));
    setCursor(next);
    onReach(next);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const to = keyTarget(event.key, at, tips.count);
    if (to !== null) go(to);
    else if (onPick && (event.key === "Enter" || event.key === " ")) onPick(at);
    else return;
    event.preventDefault();
  };
  return (
    <div
      className="chart-keys"
      role="slider"
      tabIndex={0}
      aria-label={title}
      aria-valuemin={1}
      aria-valuemax={tips.count}
      aria-valuenow={at + 1}
      aria-valuetext={spokenTip(tips.content(at))}
      onKeyDown={onKeyDown}
      onFocus={() => onReach(at)}
      onBlur={() => onReach(null)}
    />
  );
}
