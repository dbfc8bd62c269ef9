/** Allocations stacked over time. */
import { type PointerEvent, useLayoutEffect, useMemo, useRef, useState } from "react";
import { useTraceQuery } from "../../api";
import type { SnapshotTimelineAnswer } from "../../api/schema.gen";
import {
  bytesAxis,
  crisp,
  formatWindow,
  momentIn,
  PointerTip,
  parseWindow,
  readTheme,
  type TooltipContent,
  timeAxis,
  useBoxWidth,
} from "../../draw";
import { bytes, count, frameLabel } from "../../format";
import { useTheme } from "../../host";
import { snapshotTexts as text } from "../../i18n";
import { useAddress, useTrace } from "../../state";
import { Empty, Panel, QueryPanel, Segmented } from "../../ui";
import { momentName } from "./Moments";
import { params } from "./params";
import { columnAt, type Layer, layerAt, layersOf, ranksOf } from "./stack";
import { asked, type Look, useColors } from "./useSnapshot";

const HEIGHT = 320;
const LEFT = 72;
const BOTTOM = 24;
const TOP = 18;
const LEGEND = 8;
const DRAG_PIXELS = 4;
const AXES = (["time", "record"] as const).map((value) => ({ value, label: text.axes[value] }));

export function TimelinePanel({ look }: { readonly look: Look }) {
  if (look.device.has_history) return <History look={look} />;
  return (
    <Panel title={text.timeline} help={text.timelineHelp}>
      <Empty title={text.noHistory} reason={text.noHistoryReason} remedy={text.noHistoryRemedy} />
    </Panel>
  );
}

function History({ look }: { readonly look: Look }) {
  const { sel } = useTrace();
  const [axis, setAxis] = useAddress(params.axis);
  const [range, setRange] = useAddress(params.range);
  const window = parseWindow(range);
  const question = { ...asked(look), axis, start: window?.start, end: window?.end };
  const query = useTraceQuery("snapshot/timeline", sel, question);
  return (
    <QueryPanel
      className="across"
      title={text.timeline}
      help={text.timelineHelp}
      query={query}
      actions={
        <>
          {window && (
            <button type="button" className="button" onClick={() => setRange("")}>
              {text.whole}
            </button>
          )}
          <Segmented
            labelled
            label={text.axis}
            value={query.data?.axis ?? axis}
            options={AXES}
            onChange={(next) => {
              setRange("");
              setAxis(next);
            }}
          />
        </>
      }
    >
      {(answer) => (
        <Drawn
          answer={answer}
          look={look}
          onWindow={(next) => setRange(next ? formatWindow(next) : "")}
        />
      )}
    </QueryPanel>
  );
}

interface DrawnProps {
  readonly answer: SnapshotTimelineAnswer;
  readonly look: Look;
  readonly onWindow: (window: { start: number; end: number } | null) => void;
}

function Drawn({ answer, look, onWindow }: DrawnProps) {
  const { box, width } = useBoxWidth();
  const canvas = useRef<HTMLCanvasElement>(null);
  const theme = useTheme();
  const layers = useMemo(() => layersOf(answer), [answer]);
  const colorOfLine = useColors(look);
  const top = Math.max(1, ...answer.requested, ...answer.reserved);
  const axis = useMemo(() => bytesAxis(0, top), [top]);
  const [tip, setTip] = useState<{ content: TooltipContent; x: number; y: number } | null>(null);
  const [drag, setDrag] = useState<{ from: number; to: number } | null>(null);

  const last = answer.axis === "record" ? answer.end + 1 : Math.max(answer.end, answer.start + 1);
  const plot = Math.max(1, width - LEFT - 8);
  const high = axis.max;
  const xOf = (place: number) => LEFT + ((place - answer.start) / (last - answer.start)) * plot;
  const placeOf = (x: number) =>
    Math.round(
      answer.start + (Math.min(plot, Math.max(0, x - LEFT)) / plot) * (last - answer.start),
    );
  const yOf = (size: number) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - size / high);
  const nameOf = ({ band, line }: Layer) => answer.bands[band]?.name ?? answer.lines[line] ?? "";
  const colorOf = (layer: Layer) => colorOfLine(nameOf(layer));
  const chosen = placeOfMoment(answer, look);

  // biome-ignore lint/correctness/useExhaustiveDependencies: what is drawn follows from these, and from the page's style
  useLayoutEffect(() => {
    const element = canvas.current;
    if (!element || width === 0) return;
    const context = crisp(element, width, HEIGHT);
    if (!context) return;
    const colors = readTheme(element);
    context.font = `12px ${colors.font}`;
    context.textBaseline = "middle";
    for (const value of axis.ticks) {
      const y = Math.round(yOf(value)) + 0.5;
      context.strokeStyle = colors.line;
      context.beginPath();
      context.moveTo(LEFT, y);
      context.lineTo(width - 8, y);
      context.stroke();
      context.fillStyle = colors.muted;
      context.textAlign = "right";
      context.fillText(axis.label(value), LEFT - 6, y);
    }
    const edges = [...answer.x.map(xOf), xOf(last)];
    for (const layer of layers) {
      context.fillStyle = colors.resolve(colorOf(layer));
      context.beginPath();
      const size = layer.end - layer.begin;
      for (let i = 0; i < size; i++) {
        const [from, to] = [edges[layer.begin + i] ?? 0, edges[layer.begin + i + 1] ?? 0];
        const y = yOf(layer.high[i] ?? 0);
        if (i === 0) context.moveTo(from, y);
        else context.lineTo(from, y);
        context.lineTo(Math.max(to, from + 1), y);
      }
      for (let i = size - 1; i >= 0; i--) {
        const [from, to] = [edges[layer.begin + i] ?? 0, edges[layer.begin + i + 1] ?? 0];
        const y = yOf(layer.low[i] ?? 0);
        context.lineTo(Math.max(to, from + 1), y);
        context.lineTo(from, y);
      }
      context.closePath();
      context.fill();
      if (layer.shape >= 0 && yOf(layer.low[0] ?? 0) - yOf(layer.high[0] ?? 0) > 3) {
        context.strokeStyle = colors.surface;
        context.lineWidth = 0.5;
        context.stroke();
      }
    }
    const line = (values: readonly number[], color: string, dashes: number[]) => {
      context.strokeStyle = colors.resolve(color);
      context.lineWidth = 1.25;
      context.setLineDash(dashes);
      context.beginPath();
      values.forEach((value, i) => {
        const y = yOf(value);
        if (i === 0) context.moveTo(edges[i] ?? 0, y);
        else context.lineTo(edges[i] ?? 0, y);
        context.lineTo(edges[i + 1] ?? 0, y);
      });
      context.stroke();
      context.setLineDash([]);
    };
    line(answer.requested, "var(--text)", []);
    line(answer.reserved, "var(--series-2)", [5, 4]);
    const named: { x: number; strong: boolean; label: string }[] = [];
    for (const mark of answer.marks) {
      const at = answer.axis === "record" ? mark.position : mark.time_ns;
      if (at === null || at < answer.start || at > last) continue;
      const x = Math.round(xOf(at)) + 0.5;
      const strong = mark.kind === "oom";
      const weak = mark.kind === "annotation" || mark.kind === "segment";
      context.strokeStyle = colors.resolve(strong ? "var(--danger)" : "var(--border-strong)");
      context.lineWidth = strong ? 2 : 1;
      context.beginPath();
      context.moveTo(x, weak ? HEIGHT - BOTTOM : TOP);
      context.lineTo(x, HEIGHT - BOTTOM + (mark.kind === "annotation" ? 6 : weak ? 3 : 0));
      context.stroke();
      if (strong || mark.kind === "peak") named.push({ x, strong, label: momentName(mark.kind) });
    }
    // Above the plot, where no curve crosses them; from the right, so that none lies on another.
    context.textAlign = "left";
    let free = width;
    for (const { x, strong, label } of named.sort((a, b) => b.x - a.x)) {
      const size = context.measureText(label).width;
      const from = x + 4 + size <= free ? x + 4 : Math.min(x - 4, free - 8) - size;
      context.fillStyle = colors.resolve(strong ? "var(--danger)" : "var(--text-2)");
      context.fillText(label, from, 8);
      free = from;
    }
    if (chosen !== null && chosen >= answer.start && chosen <= last) {
      context.strokeStyle = colors.resolve("var(--accent)");
      context.lineWidth = 2;
      context.beginPath();
      context.moveTo(xOf(chosen), TOP);
      context.lineTo(xOf(chosen), HEIGHT - BOTTOM);
      context.stroke();
    }
    context.fillStyle = colors.muted;
    for (const { place, label } of ticksOf(answer, plot)) {
      const x = xOf(place);
      context.textAlign = x < LEFT + 30 ? "left" : x > width - 40 ? "right" : "center";
      context.fillText(label, x, HEIGHT - 8);
    }
  }, [answer, layers, colorOfLine, width, theme, chosen]);

  const columnOf = (event: PointerEvent) => {
    const { left, top: y } = event.currentTarget.getBoundingClientRect();
    const x = event.clientX - left;
    return { x, y: event.clientY - y, column: columnAt(answer.x, placeOf(x)) };
  };
  const onMove = (event: PointerEvent) => {
    const { x, y, column } = columnOf(event);
    if (drag) {
      setDrag({ ...drag, to: x });
      setTip(null);
      return;
    }
    const size = ((HEIGHT - BOTTOM - y) / (HEIGHT - TOP - BOTTOM)) * high;
    const layer = layerAt(layers, column, size);
    setTip({
      content: tipOf(answer, column, layer, layer && colorOf(layer)),
      x: event.clientX,
      y: event.clientY,
    });
  };
  const onUp = (event: PointerEvent) => {
    if (!drag) return;
    setDrag(null);
    // Where it is released, not where it was last drawn: the last move may not have been drawn yet.
    const { x, column } = columnOf(event);
    const [left, right] = [Math.min(drag.from, x), Math.max(drag.from, x)];
    if (right - left >= DRAG_PIXELS) onWindow({ start: placeOf(left), end: placeOf(right) });
    else look.setAt(String(answer.position[column] ?? -1));
  };
  const legend = [...ranksOf(answer).keys()];
  return (
    <div ref={box} className="snapshot-timeline">
      <canvas
        ref={canvas}
        style={{ width: "100%", height: HEIGHT }}
        role="img"
        aria-label={text.timelineSaid(count(answer.x.length), bytes(Math.max(...answer.requested)))}
        onPointerDown={(event) => {
          const { x } = columnOf(event);
          event.currentTarget.setPointerCapture(event.pointerId);
          setDrag({ from: x, to: x });
        }}
        onPointerMove={onMove}
        onPointerUp={onUp}
        onPointerCancel={() => setDrag(null)}
        onPointerLeave={() => setTip(null)}
        onDoubleClick={() => onWindow(null)}
      />
      {drag && Math.abs(drag.to - drag.from) >= DRAG_PIXELS && (
        <div
          className="snapshot-drag"
          style={{
            left: Math.min(drag.from, drag.to),
            width: Math.abs(drag.to - drag.from),
            top: TOP,
            height: HEIGHT - TOP - BOTTOM,
          }}
        />
      )}
      {tip && <PointerTip {...tip} />}
      <input
        type="range"
        className="snapshot-slider"
        aria-label={text.moment}
        title={text.momentHint}
        min={0}
        max={Math.max(0, answer.position.length - 1)}
        value={columnAt(answer.position, chosenPosition(look))}
        aria-valuetext={momentName(look.at)}
        onChange={(event) => look.setAt(String(answer.position[Number(event.target.value)] ?? -1))}
      />
      <ul className="snapshot-legend">
        {legend.slice(0, LEGEND).map((line) => (
          <li key={line} title={line}>
            <span style={{ background: colorOfLine(line) }} aria-hidden="true" />
            {frameLabel(line)}
          </li>
        ))}
        {legend.length > LEGEND && <li>{text.more(count(legend.length - LEGEND))}</li>}
      </ul>
    </div>
  );
}

/** Round places of the axis, as many as there is room for. Pure. */
export function ticksOf(
  { axis, start, end }: Pick<SnapshotTimelineAnswer, "axis" | "start" | "end">,
  pixels: number,
): { place: number; label: string }[] {
  const most = Math.max(2, Math.floor(pixels / 160));
  const { ticks, label } = timeAxis({ start, end: Math.max(end, start + 1) }, most);
  const write = axis === "record" ? (place: number) => count(place) : label;
  return ticks.filter((place) => place <= end).map((place) => ({ place, label: write(place) }));
}

function placeText(answer: SnapshotTimelineAnswer, place: number): string {
  return answer.axis === "record" ? count(Math.round(place)) : momentIn(place, answer);
}

function chosenPosition(look: Look): number {
  if (/^-?\d+$/.test(look.at)) return Number(look.at);
  return look.device.moments.find(({ kind }) => kind === look.at)?.position ?? -1;
}

/** Where the moment lies on the axis; null where that is not known. */
function placeOfMoment(answer: SnapshotTimelineAnswer, look: Look): number | null {
  const position = chosenPosition(look);
  if (answer.axis === "record") return position;
  const known = look.device.moments.find((each) => each.position === position);
  if (known) return known.time_ns;
  return answer.x[columnAt(answer.position, position)] ?? null;
}

function tipOf(
  answer: SnapshotTimelineAnswer,
  column: number,
  layer: Layer | null,
  color: string | null,
): TooltipContent {
  const { shapes, bands } = answer;
  const whole = [
    { label: text.tip.inUse, value: bytes(answer.requested[column]) },
    { label: text.tip.reserved, value: bytes(answer.reserved[column]) },
  ];
  const title = placeText(answer, answer.x[column] ?? 0);
  if (!layer) return { title, lines: whole };
  const band = bands[layer.band];
  if (band) {
    return {
      title: frameLabel(band.name),
      subtitle: title,
      lines: [
        { label: text.tip.size, value: bytes(band.bytes[column]), color: color ?? "" },
        { label: text.tip.blocks, value: count(band.blocks) },
        ...whole,
      ],
    };
  }
  const born = shapes.born[layer.shape] ?? -1;
  const released = shapes.released[layer.shape];
  return {
    title: answer.lines[layer.line] ?? "",
    subtitle: title,
    lines: [
      { label: text.tip.size, value: bytes(shapes.bytes[layer.shape]), color: color ?? "" },
      { label: text.tip.born, value: born < 0 ? text.tip.before : text.tip.record(count(born)) },
      {
        label: text.tip.released,
        value: released == null ? text.tip.never : text.tip.record(count(released)),
      },
      ...whole,
    ],
  };
}
