/** What the timeline asks: docs/timeline-protocol.md. Binary answers are handed on as they are. */
import { useQueries, useQuery } from "@tanstack/react-query";
import { type ApiError, get, getBinary, type Query } from "./client";
import { allSteps, type Result, useTraceQuery } from "./queries";
import type { Meta, Nanoseconds, TraceKey } from "./types";

export interface TimelineTrack {
  id: number;
  parent: number | null;
  kind: "process" | "thread" | "stream" | "other";
  name: string;
  device: number | null;
  slices: number;
  instants: number;
  busy_ns: Nanoseconds;
}

export interface TimelineLevel {
  level: number;
  width_ns: Nanoseconds;
  tile_ns: Nanoseconds;
}

export interface TimelineCounter {
  id: string;
  kind: string;
  name: string;
  device: string;
  unit: "fraction" | "bytes" | "count" | "bytes/s";
  min: number;
  max: number;
}

export interface TimelineMeta {
  meta: Meta;
  version: string;
  begin_ns: Nanoseconds;
  end_ns: Nanoseconds;
  events: {
    total: number;
    slices: number;
    instants: number;
    flows: number;
    counters: number;
    metadata: number;
    too_deep: number;
    other: number;
  };
  names: number;
  categories: string[];
  levels: TimelineLevel[];
  tracks: TimelineTrack[];
  /** Parallel lists; the position is the number of the lane. */
  lanes: { track: number[]; band: string[]; depth: number[]; slices: number[]; busy_ns: number[] };
  steps: { names: string[]; start_ns: Nanoseconds[]; duration_ns: Nanoseconds[] };
  counters: TimelineCounter[];
}

export interface SliceRef {
  row: number;
  lane: number;
  name: string;
  category: string;
  start_ns: Nanoseconds;
  duration_ns: Nanoseconds;
}

/** JSON text, so that every digit stays; null when the event has none. `length`: of all of it. */
export interface EventArgs {
  row: number;
  args: string | null;
  length: number;
}

export interface SliceDetails extends SliceRef {
  track: number;
  name_id: number;
  self_ns: Nanoseconds;
  args: Record<string, unknown>;
  step: string | null;
  parents: SliceRef[];
  stack: { row: number; frame: string }[];
  call_stack: string[];
  modules: string[];
  launch: SliceRef | null;
  launched: { total: number; total_ns: Nanoseconds; slices: SliceRef[] };
  operator: SliceRef | null;
  forward: SliceRef[];
  backward: SliceRef[];
  flows: { kind: string; source: SliceRef; target: SliceRef }[];
  same_name: {
    count: number;
    total_ns: Nanoseconds;
    mean_ns: Nanoseconds;
    min_ns: Nanoseconds;
    median_ns: Nanoseconds;
    p95_ns: Nanoseconds;
    max_ns: Nanoseconds;
    longest_row: number;
    position: number;
    histogram: { edges_ns: Nanoseconds[]; counts: number[] } | null;
  };
}

export interface TimelineSearch {
  names: {
    name_id: number;
    name: string;
    count: number;
    total_ns: Nanoseconds;
    longest_row: number;
  }[];
  names_total: number;
  count: number;
  total_ns: Nanoseconds;
  hits: {
    row: number[];
    lane: number[];
    name_id: number[];
    start_ns: number[];
    duration_ns: number[];
  };
  density: { from_ns: Nanoseconds; to_ns: Nanoseconds; counts: number[] };
}

export interface RangeSums {
  from_ns: Nanoseconds;
  to_ns: Nanoseconds;
  slices: number;
  instants: number;
  by_name: {
    name_id: number;
    name: string;
    category: string;
    count: number;
    total_ns: Nanoseconds;
    longest_row: number;
  }[];
  names_total: number;
  rest: { count: number; total_ns: Nanoseconds };
  by_category: { category: string; count: number; total_ns: Nanoseconds }[];
  devices: {
    device: number;
    busy_ns: Nanoseconds;
    idle_ns: Nanoseconds;
    kernel_ns: Nanoseconds;
    memcpy_ns: Nanoseconds;
    communication_ns: Nanoseconds;
    exposed_communication_ns: Nanoseconds;
  }[];
}

/** Parallel lists; fewer than `total` when the answer was cut. */
export interface TimelineFlows {
  total: number;
  loose: number;
  kind: string[];
  from_row: number[];
  from_lane: number[];
  from_ns: Nanoseconds[];
  to_row: number[];
  to_lane: number[];
  to_ns: Nanoseconds[];
}

export interface RunOverview {
  begin_ns: Nanoseconds;
  end_ns: Nanoseconds;
  /** The offsets come from clocks; else every rank begins at 0. */
  aligned: boolean;
  workers: {
    worker: string;
    rank: number | null;
    events: number;
    slices: number;
    offset_ns: Nanoseconds;
    /** Part of each bin in which it was busy, 0…255. */
    device: number[];
    host: number[];
    communication: number[];
  }[];
  absent: { worker: string; state: string; reason: string | null }[];
}

export interface Collective {
  name: string;
  group: string;
  members: {
    worker: string;
    row: number;
    lane: number;
    start_ns: Nanoseconds;
    duration_ns: Nanoseconds;
  }[];
}

/** One trace as the timeline knows it: its answers never change. */
export interface TimelineKey {
  run: string;
  worker: string;
  span: string;
  v: string;
}

/** About the whole file, whatever steps are looked at. */
export function useTimeline(sel: TraceKey | null): Result<TimelineMeta> {
  return useTraceQuery("timeline", sel && allSteps(sel), {}, { keep: false });
}

/** The same for further ranks; in the order of `keys`. */
export function useTimelines(keys: readonly TraceKey[]): Result<TimelineMeta>[] {
  return useQueries({
    queries: keys.map((key) => {
      const { run, worker, span, ...how } = allSteps(key);
      return {
        queryKey: ["trace", run, worker, span, how, "timeline", {}],
        queryFn: ({ signal }: { signal: AbortSignal }) =>
          get<TimelineMeta>("timeline", { run, worker, span, ...how }, signal),
      };
    }),
  }) as Result<TimelineMeta>[];
}

/** `1,2,3,7` as `1-3,7`; the numbers ascend. */
export function numberList(numbers: readonly number[]): string {
  const parts: string[] = [];
  for (let at = 0; at < numbers.length; ) {
    const first = numbers[at] ?? 0;
    let last = first;
    while (numbers[++at] === last + 1) last += 1;
    parts.push(first === last ? String(first) : `${first}-${last}`);
  }
  return parts.join(",");
}

export function timelineTile(
  key: TimelineKey,
  level: number,
  tile: number,
  lanes: readonly number[],
  operators: boolean,
  signal: AbortSignal,
): Promise<ArrayBuffer> {
  const query = { ...key, level, tile, lanes: numberList(lanes), operators: operators ? 1 : null };
  return getBinary("timeline/tiles", query, signal);
}

export function timelineCounters(
  key: TimelineKey,
  level: number,
  tile: number,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<ArrayBuffer> {
  return getBinary("timeline/counters", { ...key, level, tile, ids: ids.join(",") }, signal);
}

/** Ids that do not exist are left out of the answer. */
export function timelineNames(
  key: TimelineKey,
  which: { ids: string } | { from: number; count: number },
): Promise<{ ids: number[]; names: string[] }> {
  return get("timeline/names", { ...key, ...which });
}

export function timelineSearch(
  key: TimelineKey,
  query: {
    q: string;
    mode?: "text" | "regex";
    case?: "ignore" | "match";
    bins?: number;
    hits?: number;
    after?: number;
    from?: number;
  },
  signal?: AbortSignal,
): Promise<TimelineSearch> {
  return get("timeline/search", { ...key, ...query }, signal);
}

export function timelineNext(
  key: TimelineKey,
  row: number,
  direction: "next" | "previous",
): Promise<{ slice: SliceRef | null }> {
  return get("timeline/next", { ...key, row, direction });
}

/** `key` is null while there is nothing to ask about. */
function useTimelineQuery<T>(route: string, key: TimelineKey | null, query: Query): Result<T> {
  return useQuery<T, ApiError>({
    queryKey: ["trace", key?.run, key?.worker, key?.span, key?.v, route, query],
    queryFn: ({ signal }) => get<T>(route, { ...key, ...query }, signal),
    enabled: key !== null,
  });
}

export function useTimelineSlice(
  key: TimelineKey | null,
  row: number | null,
): Result<SliceDetails> {
  return useTimelineQuery("timeline/slice", row === null ? null : key, { row });
}

/** The arguments as the file has them; asked for once `row` is not null. */
export function useTimelineArgs(key: TimelineKey | null, row: number | null): Result<EventArgs> {
  return useTimelineQuery("timeline/args", row === null ? null : key, { row });
}

/** The same question to several ranks, in their order; `queries`: of each rank. Null while there is nothing to ask. */
function useRanksQuery<T>(
  route: string,
  keys: readonly TimelineKey[],
  queries: readonly Query[] | null,
): Result<T[]> {
  const asked = keys.map(({ run, worker, span, v }, at) => ({
    run,
    worker,
    span,
    v,
    ...queries?.[at],
  }));
  return useQuery<T[], ApiError>({
    queryKey: ["trace", keys[0]?.run, null, route, asked],
    queryFn: ({ signal }) => Promise.all(asked.map((query) => get<T>(route, query, signal))),
    enabled: queries !== null && keys.length > 0,
  });
}

/** `hits`: of each rank at most. */
export function useTimelineSearch(
  keys: readonly TimelineKey[],
  q: string,
  mode: "text" | "regex",
  hits: number,
): Result<TimelineSearch[]> {
  const query = { q, mode, hits };
  return useRanksQuery("timeline/search", keys, q === "" ? null : keys.map(() => query));
}

/** Of each rank its window, in its own times, and its lanes: null for all. */
export function useTimelineRange(
  keys: readonly TimelineKey[],
  ranges: readonly { from: number; to: number; lanes: readonly number[] | null }[],
): Result<RangeSums[]> {
  const queries = ranges.map(({ lanes, ...range }) => ({
    ...range,
    lanes: lanes && numberList(lanes),
  }));
  return useRanksQuery("timeline/range", keys, queries);
}

/** `windows`: of each rank, in its own times; `limit`: of each at most. */
export function useTimelineFlows(
  keys: readonly TimelineKey[],
  windows: readonly { from: number; to: number }[] | null,
  limit: number,
): Result<TimelineFlows[]> {
  const queries = windows?.map((window) => ({ ...window, limit })) ?? null;
  return useRanksQuery("timeline/flows", keys, queries);
}

export function useRunOverview(sel: TraceKey | null, bins: number): Result<RunOverview> {
  const { run, span } = sel ?? { run: null, span: null };
  return useQuery<RunOverview, ApiError>({
    queryKey: ["trace", run, null, span, "timeline/overview", bins],
    queryFn: ({ signal }) => get("timeline/overview", { run, span, bins }, signal),
    enabled: sel !== null,
  });
}

export function useCollective(key: TimelineKey | null, row: number | null): Result<Collective> {
  const { v: _, ...trace } = key ?? { v: "", run: "", worker: "", span: "" };
  return useQuery<Collective, ApiError>({
    queryKey: ["trace", trace.run, trace.worker, trace.span, "timeline/collective", row],
    queryFn: ({ signal }) => get("timeline/collective", { ...trace, row }, signal),
    enabled: key !== null && row !== null,
    retry: false,
  });
}
