/** Which arrows are drawn: those of the selected slice, all of them, or none. */
import { useMemo } from "react";
import { type SliceDetails, type SliceRef, useCollective, useTimelineFlows } from "../../api";
import type { TimeWindow } from "../../draw";
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

/** Arrows that are drawn at once, of all ranks together. */
const MOST_FLOWS = 2_000;
const LEAST_FLOWS = 50;

interface End {
  readonly source: RankTiles;
  readonly lane: number;
  /** ns of the page. */
  readonly time: number;
}

interface Wanted {
  readonly sources: readonly RankTiles[];
  readonly rows: TrackRows;
  readonly details: SliceDetails | null;
  readonly selected: PickedSlice | null;
  readonly window: TimeWindow;
}

export function useFlows({ sources, rows, details, selected, window }: Wanted): {
  flows: readonly Flow[];
  /** The same collective on the other ranks shown. */
  peers: readonly PickedSlice[];
  note: string | null;
} {
  const [mode] = useAddress(params.flows);
  const source = sources.find(({ worker }) => worker === selected?.worker) ?? null;
  const isCollective = details !== null && mode !== "off" && sources.length > 1;
  const collective = useCollective(
    isCollective ? (source?.key ?? null) : null,
    details?.row ?? null,
  ).data;
  const keys = useMemo(() => sources.map(({ key }) => key), [sources]);
  const windows = sources.map(({ offset }) => ({
    from: Math.floor(window.start - offset),
    to: Math.ceil(window.end - offset),
  }));
  const limit = Math.max(LEAST_FLOWS, Math.floor(MOST_FLOWS / Math.max(1, sources.length)));
  const all = useTimelineFlows(keys, mode === "all" ? windows : null, limit).data;
  const ends = useMemo(() => {
    if (mode === "off") return [];
    const found: { kind: string; from: End; to: End }[] = [];
    if (mode === "all" && all) {
      for (const [rank, arrows] of all.entries()) {
        const of = sources[rank];
        if (!of) continue;
        const end = (lanes: number[], times: number[], at: number): End => ({
          source: of,
          lane: lanes[at] ?? 0,
          time: (times[at] ?? 0) + of.offset,
        });
        for (const [at, kind] of arrows.kind.entries())
          found.push({
            kind,
            from: end(arrows.from_lane, arrows.from_ns, at),
            to: end(arrows.to_lane, arrows.to_ns, at),
          });
      }
    }
    if (source && details) found.push(...ofSlice(source, details));
    if (source && details && collective) {
      const own = middleOf(source, details);
      for (const member of collective.members) {
        const { lane } = member;
        const other = sources.find(({ worker }) => worker === member.worker);
        // Without a lane, it is not in the timeline of its rank.
        if (!other || lane === null || (other === source && member.row === details.row)) continue;
        found.push({ kind: "collective", from: own, to: middleOf(other, { ...member, lane }) });
      }
    }
    return found;
  }, [mode, all, source, details, collective, sources]);
  const peers = useMemo(
    () =>
      (collective?.members ?? []).flatMap(({ worker, row, lane, start_ns, duration_ns }) => {
        const of = sources.find((each) => each.worker === worker);
        if (!of || row === null || lane === null || (of === source && row === details?.row))
          return [];
        return [pickedSlice(of, { row, lane, start_ns, duration_ns })];
      }),
    [collective, sources, source, details],
  );
  const flows = useMemo(
    () =>
      ends.flatMap(({ kind, from, to }): Flow[] => {
        const [a, b] = [yOf(rows, from), yOf(rows, to)];
        if (a === null || b === null) return [];
        return [{ kind, from: { time: from.time, y: a }, to: { time: to.time, y: b } }];
      }),
    [ends, rows],
  );
  const drawn = all?.reduce((sum, { kind }) => sum + kind.length, 0) ?? 0;
  const total = all?.reduce((sum, arrows) => sum + arrows.total, 0) ?? 0;
  const cut = mode === "all" && drawn < total;
  return { flows, peers, note: cut ? traceTexts.flowsCut(count(drawn), count(total)) : null };
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
function ofSlice(source: RankTiles, details: SliceDetails): { kind: string; from: End; to: End }[] {
  const begin = (of: SliceRef): End => ({
    source,
    lane: of.lane,
    time: of.start_ns + source.offset,
  });
  const found: { kind: string; from: End; to: End }[] = [];
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
