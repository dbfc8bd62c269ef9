/** Which arrows are drawn: those of the selected slice, all of them, or none. */
import { useMemo } from "react";
import {
  type Collective,
  type SliceDetails,
  type SliceRef,
  type TimelineFlows,
  useCollective,
  useTimelineFlows,
} from "../../api";
import { count } from "../../format";
import { traceTexts } from "../../i18n";
import { useAddress } from "../../state";
import {
  type Flow,
  type PickedSlice,
  placeOf,
  type RankTiles,
  type TrackRows,
} from "../../timeline";
import { params } from "./params";
import { pickedSlice } from "./pickedSlice";
import { useTraceState } from "./useTraceModel";

/** Arrows that are drawn at once, of all ranks together. */
const MOST_FLOWS = 2_000;
const LEAST_FLOWS = 50;

interface End {
  readonly source: RankTiles;
  readonly lane: number;
  /** ns of the page. */
  readonly time: number;
}

interface Arrow {
  readonly kind: string;
  readonly from: End;
  readonly to: End;
}

interface Flows {
  readonly flows: readonly Flow[];
  /** The same collective on the other ranks shown. */
  readonly peers: readonly PickedSlice[];
  readonly note: string | null;
}

export function useFlows(): Flows {
  const { ranks, rows, windows, event } = useTraceState();
  const { rank, details } = event;
  const [mode] = useAddress(params.flows);
  const isCollective = details !== null && mode !== "off" && ranks.length > 1;
  const collective = useCollective(
    isCollective ? (rank?.key ?? null) : null,
    details?.row ?? null,
  ).data;
  const keys = useMemo(() => ranks.map(({ key }) => key), [ranks]);
  const { start, end } = windows.window;
  const own = ranks.map(({ offset }) => ({
    from: Math.floor(start - offset),
    to: Math.ceil(end - offset),
  }));
  const limit = Math.max(LEAST_FLOWS, Math.floor(MOST_FLOWS / Math.max(1, ranks.length)));
  const all = useTimelineFlows(keys, mode === "all" ? own : null, limit).data;
  const arrows = useMemo(() => {
    if (mode === "off") return [];
    return [
      ...(mode === "all" && all ? ofWindow(ranks, all) : []),
      ...(rank && details ? ofSlice(rank, details) : []),
      ...(rank && details && collective ? ofCollective(ranks, rank, details, collective) : []),
    ];
  }, [mode, all, rank, details, collective, ranks]);
  const peers = useMemo(
    () =>
      (collective?.members ?? []).flatMap(({ worker, row, lane, start_ns, duration_ns }) => {
        const of = ranks.find((each) => each.worker === worker);
        if (!of || row === null || lane === null || (of === rank && row === details?.row))
          return [];
        return [pickedSlice(of, { row, lane, start_ns, duration_ns })];
      }),
    [collective, ranks, rank, details],
  );
  const flows = useMemo(
    () =>
      arrows.flatMap(({ kind, from, to }): Flow[] => {
        const [a, b] = [yOf(rows, from), yOf(rows, to)];
        if (a === null || b === null) return [];
        return [{ kind, from: { time: from.time, y: a }, to: { time: to.time, y: b } }];
      }),
    [arrows, rows],
  );
  const drawn = all?.reduce((sum, { kind }) => sum + kind.length, 0) ?? 0;
  const total = all?.reduce((sum, each) => sum + each.total, 0) ?? 0;
  const cut = mode === "all" && drawn < total;
  return { flows, peers, note: cut ? traceTexts.flowsCut(count(drawn), count(total)) : null };
}

/** All of a window, of each rank. */
function ofWindow(ranks: readonly RankTiles[], all: readonly TimelineFlows[]): Arrow[] {
  return all.flatMap((arrows, at) => {
    const source = ranks[at];
    if (!source) return [];
    const end = (lanes: readonly number[], times: readonly number[], arrow: number): End => ({
      source,
      lane: lanes[arrow] ?? 0,
      time: (times[arrow] ?? 0) + source.offset,
    });
    return arrows.kind.map((kind, arrow) => ({
      kind,
      from: end(arrows.from_lane, arrows.from_ns, arrow),
      to: end(arrows.to_lane, arrows.to_ns, arrow),
    }));
  });
}

/** To the same collective on other ranks. */
function ofCollective(
  ranks: readonly RankTiles[],
  source: RankTiles,
  details: SliceDetails,
  { members }: Collective,
): Arrow[] {
  const from = middleOf(source, details);
  return members.flatMap((member) => {
    const { lane } = member;
    const other = ranks.find(({ worker }) => worker === member.worker);
    // Without a lane, it is not in the timeline of its rank.
    if (!other || lane === null || (other === source && member.row === details.row)) return [];
    return [{ kind: "collective", from, to: middleOf(other, { ...member, lane }) }];
  });
}

export function FlowNote({ note }: { note: string | null }) {
  return note === null ? null : <p className="muted">{note}</p>;
}

function yOf(rows: TrackRows, { source, lane }: End): number | null {
  const place = placeOf(rows, source, lane);
  return place && place.y + Math.min(place.height, 24) / 2;
}

function middleOf(
  source: RankTiles,
  { lane, start_ns, duration_ns }: { lane: number; start_ns: number; duration_ns: number },
): End {
  return { source, lane, time: start_ns + duration_ns / 2 + source.offset };
}

/** Operator → launch → kernel, forward ↔ backward. */
function ofSlice(source: RankTiles, details: SliceDetails): Arrow[] {
  const begin = (of: SliceRef): End => ({
    source,
    lane: of.lane,
    time: of.start_ns + source.offset,
  });
  const found: Arrow[] = [];
  const seen = new Set<string>();
  const add = (kind: string, from: SliceRef, to: SliceRef) => {
    const id = `${from.row} ${to.row}`;
    if (seen.has(id) || from.row === to.row) return;
    seen.add(id);
    found.push({ kind, from: begin(from), to: begin(to) });
  };
  for (const flow of details.flows) add(flow.kind, flow.source, flow.target);
  for (const kernel of details.launched.slices) add("launch", details, kernel);
  if (details.launch) add("launch", details.launch, details);
  if (details.operator) add("launch", details.operator, details.launch ?? details);
  for (const forward of details.forward) add("forward_backward", forward, details);
  for (const backward of details.backward) add("forward_backward", details, backward);
  return found;
}
