/** Allocations stacked over time. */
import { useMemo } from "react";
import { useTraceQuery } from "../../api";
import type { SnapshotTimelineAnswer } from "../../api/schema.gen";
import { type ChartRow, type CurveEvent, largestFirst, TimeCurve } from "../../charts";
import {
  bytesAxis,
  formatWindow,
  lastUpTo,
  momentIn,
  parseWindow,
  type TimeWindow,
  type TooltipContent,
} from "../../draw";
import { bytes, count, frameLabel } from "../../format";
import { snapshotTexts as text } from "../../i18n";
import { useAddress, useTrace } from "../../state";
import { Button, Empty, Panel, QueryPanel, Segmented } from "../../ui";
import { momentName } from "./Moments";
import { params } from "./params";
import { type Layer, layerAt, layersOf, ranksOf } from "./stack";
import { asked, type Look, useColors } from "./useSnapshot";

const HEIGHT = 320;
const LEGEND = 8;
const NONE: readonly never[] = [];

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
          {window && <Button onClick={() => setRange("")}>{text.whole}</Button>}
          <Segmented
            labelled
            label={text.axis}
            value={query.data?.axis ?? axis}
            options={params.axis.words}
            names={text.axes}
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
          zoomed={window !== null}
          onWindow={(next) => setRange(next ? formatWindow(next) : "")}
        />
      )}
    </QueryPanel>
  );
}

interface DrawnProps {
  readonly answer: SnapshotTimelineAnswer;
  readonly look: Look;
  readonly zoomed: boolean;
  readonly onWindow: (window: TimeWindow | null) => void;
}

function Drawn({ answer, look, zoomed, onWindow }: DrawnProps) {
  const colorOf = useColors(look);
  const layers = useMemo(() => layersOf(answer), [answer]);
  const drawn = useMemo(() => drawnOf(answer, layers, colorOf), [answer, layers, colorOf]);
  const { x, position, requested } = answer;
  const columnAt = (place: number) => Math.max(0, lastUpTo(x, place));
  const chosen = placeOfMoment(answer, look);
  const lines = [...ranksOf(answer).keys()];
  const left = lines.length - LEGEND;
  return (
    <>
      <TimeCurve
        {...drawn}
        title={text.timeline}
        summary={text.timelineSaid(count(x.length), bytes(Math.max(...requested)))}
        height={HEIGHT}
        counted={answer.axis === "record"}
        marks={NONE}
        spans={NONE}
        zoomed={zoomed}
        onWindow={onWindow}
        cursor={chosen}
        moment={chosen ?? answer.start}
        stops={x}
        onCursor={(place) =>
          look.setAt(place === null ? params.at.parse("") : String(position[columnAt(place)] ?? -1))
        }
        readout={(place, size) => {
          const column = columnAt(place);
          const layer = size === null ? null : layerAt(layers, column, size);
          return tipOf(answer, column, layer, layer && colorOf(nameOf(answer, layer)));
        }}
        legend={[
          ...LINES,
          ...lines.slice(0, LEGEND).map((line) => ({
            key: line,
            label: frameLabel(line),
            title: line,
            color: colorOf(line),
            shown: true,
          })),
        ]}
        head={text.allocationColumns}
        rows={() => rowsOf(answer)}
      />
      {left > 0 && <p className="chart-note">{text.more(count(left))}</p>}
    </>
  );
}

const LINES = [
  { key: "requested", label: text.tip.inUse, color: "var(--text)", line: "solid", shown: true },
  {
    key: "reserved",
    label: text.tip.reserved,
    color: "var(--series-2)",
    line: "dashed",
    shown: true,
  },
] as const;

/** What is drawn of an answer, in the places of its axis. */
function drawnOf(
  answer: SnapshotTimelineAnswer,
  layers: readonly Layer[],
  colorOf: (line: string) => string,
) {
  const { x, axis, start, end } = answer;
  const last = axis === "record" ? end + 1 : Math.max(end, start + 1);
  const edges = [...x, last];
  return {
    window: { start, end: last },
    y: bytesAxis(0, Math.max(1, ...answer.requested, ...answer.reserved)),
    areas: layers
      .filter(({ begin, end }) => begin < end)
      .map((layer) => ({
        times: edges.slice(layer.begin, layer.end + 1),
        low: layer.low,
        high: layer.high,
        color: colorOf(nameOf(answer, layer)),
        outlined: layer.shape >= 0,
      })),
    lines: LINES.map((line) => {
      const values = answer[line.key];
      const points = edges.map(
        (edge, at) => [edge, values[Math.min(at, x.length - 1)] ?? 0] as const,
      );
      return { ...line, points, dashed: line.line === "dashed" };
    }),
    events: answer.marks.flatMap((mark): CurveEvent[] => {
      const time = axis === "record" ? mark.position : mark.time_ns;
      return time === null ? [] : [{ time, ...lookOf(mark.kind) }];
    }),
  };
}

/** How an event is drawn: the last two kinds happen often. */
function lookOf(kind: string): Omit<CurveEvent, "time"> {
  switch (kind) {
    case "oom":
      return { color: "var(--danger)", label: momentName(kind) };
    case "peak":
      return { color: "var(--text-2)", label: momentName(kind) };
    case "annotation":
      return { color: "var(--border-strong)", tick: 6 };
    case "segment":
      return { color: "var(--border-strong)", tick: 3 };
    default:
      return { color: "var(--border-strong)" };
  }
}

function nameOf({ bands, lines }: SnapshotTimelineAnswer, { band, line }: Layer): string {
  return bands[band]?.name ?? lines[line] ?? "";
}

function placeText(answer: SnapshotTimelineAnswer, place: number): string {
  return answer.axis === "record" ? count(Math.round(place)) : momentIn(place, answer);
}

/** Where the moment lies on the axis; null where that is not known. */
function placeOfMoment(answer: SnapshotTimelineAnswer, { at, device }: Look): number | null {
  const known = device.moments.find(({ kind, position }) => kind === at || String(position) === at);
  const position = /^-?\d+$/.test(at) ? Number(at) : (known?.position ?? -1);
  if (answer.axis === "record") return position;
  return known?.time_ns ?? answer.x[lastUpTo(answer.position, position)] ?? null;
}

function released(answer: SnapshotTimelineAnswer, shape: number): string {
  const record = answer.shapes.released[shape];
  return record == null ? text.tip.never : text.tip.record(count(record));
}

function born(answer: SnapshotTimelineAnswer, shape: number): string {
  const record = answer.shapes.born[shape] ?? -1;
  return record < 0 ? text.tip.before : text.tip.record(count(record));
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
  return {
    title: answer.lines[layer.line] ?? "",
    subtitle: title,
    lines: [
      { label: text.tip.size, value: bytes(shapes.bytes[layer.shape]), color: color ?? "" },
      { label: text.tip.born, value: born(answer, layer.shape) },
      { label: text.tip.released, value: released(answer, layer.shape) },
      ...whole,
    ],
  };
}

/** Allocations and what is drawn together, the largest first. */
function rowsOf(answer: SnapshotTimelineAnswer): ChartRow[] {
  const { shapes, bands, lines } = answer;
  const single = shapes.bytes.map((size, shape) => ({
    size,
    cells: [
      lines[shapes.line[shape] ?? -1] ?? "",
      bytes(size),
      count(1),
      born(answer, shape),
      released(answer, shape),
    ],
  }));
  const joined = bands.map(({ name, blocks, bytes: sizes }) => {
    const size = Math.max(0, ...sizes);
    return { size, cells: [frameLabel(name), bytes(size), count(blocks), "", ""] };
  });
  const all = [...single, ...joined];
  return largestFirst(all.map(({ size }) => size)).flatMap((at) => all[at] ?? []);
}
