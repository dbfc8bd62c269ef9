import { useCallback, useMemo } from "react";
import { type DeviceMemory, type MemoryCurves, type Result, useOverview } from "../../api";
import { type CurveLine, type CurveMark, type CurveSpan, TimeCurve, TimeRange } from "../../charts";
import { bytesAxis, contains, momentIn, type TimeWindow } from "../../draw";
import { partColor } from "../../draw/parts";
import { bytes, exact } from "../../format";
import { noteText, t, memoryTexts as text } from "../../i18n";
import { Choice } from "../../shell";
import { useAddress, useTrace } from "../../state";
import { Combo, Failure, QueryPanel } from "../../ui";
import {
  availableLines,
  extentOf,
  heldAt,
  type LineKey,
  pointsOf,
  shownLines,
  spanAt,
  stepSpans,
  toggleLine,
} from "./curve";
import { Facts } from "./Facts";
import { momentOf } from "./look";
import { params } from "./params";
import type { Look } from "./useLook";

const COLORS: Record<LineKey, string> = {
  allocated: partColor("memory.in_use"),
  reserved: "var(--series-2)",
  total: "var(--series-rest)",
};
/** For the label of the peak, which stands above it. */
const HEADROOM = 0.06;
/** Pieces are narrower than what can be pointed at. */
const TABLE_MOMENTS = 1e5;

interface PanelProps {
  readonly query: Result<MemoryCurves>;
  /** The same for the range shown. */
  readonly detail: Result<MemoryCurves>;
  /** The curve of the device; null when there are no totals. */
  readonly whole: DeviceMemory | null;
  /** The same for the range shown; null until it is here. */
  readonly here: DeviceMemory | null;
  readonly look: Look;
}

export function CurvePanel({ query, detail, whole, here, look }: PanelProps) {
  const [scale] = useAddress(params.scale);
  return (
    <QueryPanel
      className="across"
      title={text.curve}
      help={text.curveHelp}
      query={query}
      actions={
        <>
          <DeviceChoice look={look} devices={query.data?.meta.devices ?? []} />
          {whole && <Choice labelled param={params.scale} label={text.scale} names={text.scales} />}
        </>
      }
      empty={(curves) => (whole ? null : { reason: whyNone(curves, look.device ?? "") })}
    >
      {() =>
        whole && (
          <div className="memory-curve">
            <Notices look={look} />
            {look.range !== null && <Refreshing detail={detail} />}
            <DeviceCurve whole={whole} here={here} look={look} fit={scale === "fit"} />
          </div>
        )
      }
    </QueryPanel>
  );
}

/** The detail of the range on its way, or what went wrong with it; the curve itself is there meanwhile. */
function Refreshing({ detail }: Pick<PanelProps, "detail">) {
  const { error } = detail;
  return (
    <>
      {detail.isFetching && (
        <div className="panel-refreshing" role="status">
          <span className="spinner" /> {t.panel.refreshing}
        </div>
      )}
      {error && !error.loading && <Failure error={error} onRetry={() => void detail.refetch()} />}
    </>
  );
}

function whyNone(curves: MemoryCurves, device: string): string {
  const note = curves.meta.notes.find(({ kind }) => kind === "no_memory_totals");
  return (note && noteText(note)) ?? text.noTotals(device);
}

function DeviceChoice({ look, devices }: { look: Look; devices: readonly string[] }) {
  return (
    <Combo
      label={text.device}
      value={look.device}
      options={devices.map((device) => ({ value: device, label: device }))}
      onChange={look.setDevice}
    />
  );
}

/** What the link asked for and this trace does not have. */
function Notices({ look }: { look: Look }) {
  const notices = [
    look.missingDevice !== null && text.noDevice(look.missingDevice, look.device ?? ""),
    look.missingRange && text.noRange,
  ].filter((notice) => notice !== false);
  return notices.map((notice) => (
    <p key={notice} className="memory-notice" role="status">
      {notice}
    </p>
  ));
}

interface CurveProps {
  readonly whole: DeviceMemory;
  readonly here: DeviceMemory | null;
  readonly look: Look;
  readonly fit: boolean;
}

function DeviceCurve({ whole, here, look, fit }: CurveProps) {
  const { sel } = useTrace();
  const { range, setRange, cursor, setCursor } = look;
  const [wantedLines, setLines] = useAddress(params.lines);
  // Until the detail is here the coarse curve shows the same window.
  const curve = here ?? whole;
  const steps = useOverview(sel).data?.steps;
  const spans = useMemo(() => stepSpans(steps, text.step), [steps]);
  const window = range ?? look.whole;
  const keys = useMemo(() => shownLines(wantedLines, whole), [wantedLines, whole]);
  const drawn = useDrawn(curve, keys, window, fit);
  const { marks, readout } = useTexts(curve, whole, keys, window, spans);
  const peak = curve.peak_in_range;
  const available = useMemo(() => availableLines(whole), [whole]);
  const reserved = available.includes("reserved");
  const rows = useCallback(
    () => tableRows(curve, window, reserved, setCursor),
    [curve, window, reserved, setCursor],
  );

  return (
    <>
      <Facts whole={whole} here={range && here ? peak : null} spans={spans} look={look} />
      <TimeCurve
        title={text.curveOf(whole.device)}
        summary={text.summary(
          whole.device,
          momentIn(window.start, window),
          momentIn(window.end, window),
          bytes(peak.allocated),
          momentIn(peak.time_ns, window),
        )}
        {...drawn}
        marks={marks}
        spans={spans}
        window={window}
        zoomed={range !== null}
        onWindow={setRange}
        cursor={cursor}
        moment={momentOf(null, range, whole, here)?.time ?? whole.peak.time_ns}
        onCursor={setCursor}
        readout={readout}
        legend={available.map((key) => ({
          key,
          label: text.lines[key],
          color: COLORS[key],
          line: key === "allocated" ? "solid" : "dashed",
          shown: keys.includes(key),
        }))}
        onToggle={(key) => setLines(toggleLine(key, keys))}
        head={[
          text.table.time,
          text.table.lowest,
          text.table.highest,
          text.table.last,
          ...(reserved ? [text.table.reserved] : []),
        ]}
        rows={rows}
      />
      <TimeRange
        window={window}
        whole={look.whole}
        zoomed={range !== null}
        onWindow={setRange}
        cursor={cursor}
        spans={spans}
        spanLabel={text.stepLabel}
      />
    </>
  );
}

/** The lines and the axis that holds them. */
function useDrawn(curve: DeviceMemory, keys: readonly LineKey[], window: TimeWindow, fit: boolean) {
  return useMemo(() => {
    const lines: CurveLine[] = keys.map((key) => ({
      key,
      label: text.lines[key],
      color: COLORS[key],
      points: pointsOf(curve, key, window),
      area: key === "allocated" && !fit,
      dashed: key !== "allocated",
    }));
    // What is fitted is what moves most; the other lines may leave the picture.
    const measured = fit ? lines.slice(0, 1) : lines;
    const { low, high } = extentOf(measured.map(({ points }) => points));
    const from = fit ? low : Math.min(0, low);
    return { lines, y: bytesAxis(from, high + (high - from) * HEADROOM) };
  }, [curve, keys, window, fit]);
}

/** What is written at the peaks, and said about a moment. */
function useTexts(
  curve: DeviceMemory,
  whole: DeviceMemory,
  keys: readonly LineKey[],
  window: TimeWindow,
  spans: readonly CurveSpan[],
) {
  const marks = useMemo(() => {
    if (!keys.includes("allocated")) return [];
    const { peak } = whole;
    const found: CurveMark[] = [];
    if (contains(window, peak.time_ns)) {
      found.push({
        time: peak.time_ns,
        value: peak.allocated,
        label: text.peak(bytes(peak.allocated)),
      });
    } else {
      const { time_ns, allocated } = curve.peak_in_range;
      // What was in use already when the range began was reached before it.
      const time = Math.max(window.start, time_ns);
      found.push({ time, value: allocated, label: text.peakHere(bytes(allocated)) });
    }
    return found;
  }, [curve, whole, keys, window]);

  const readout = useCallback(
    (time: number) => {
      const held = heldAt(curve, time);
      const size = (value: number) => ({ value: bytes(value), share: exact(value, "bytes") });
      const allocated =
        held.lowest === held.highest
          ? size(held.allocated)
          : { value: text.between(bytes(held.lowest), bytes(held.highest)), share: "" };
      const line = (key: LineKey, value: { value: string; share: string }) =>
        keys.includes(key) ? [{ label: text.lines[key], color: COLORS[key], ...value }] : [];
      return {
        title: momentIn(time, window),
        subtitle: spanAt(spans, time)?.label,
        lines: [
          ...line("allocated", allocated),
          ...line("reserved", size(held.reserved)),
          ...line("total", size(curve.device_bytes ?? 0)),
        ],
      };
    },
    [curve, keys, window, spans],
  );
  return { marks, readout };
}

function tableRows(
  curve: DeviceMemory,
  window: TimeWindow,
  reserved: boolean,
  onPick: (time: number) => void,
) {
  return curve.time_ns.flatMap((time, i) =>
    contains(window, time)
      ? [
          {
            cells: [
              momentIn(time, window, TABLE_MOMENTS),
              bytes(curve.allocated_min[i]),
              bytes(curve.allocated_max[i]),
              bytes(curve.allocated[i]),
              ...(reserved ? [bytes(curve.reserved[i])] : []),
            ],
            onPick: () => onPick(time),
          },
        ]
      : [],
  );
}
