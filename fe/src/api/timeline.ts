/** What the timeline asks: docs/maintainers/timeline-protocol.md. Binary answers are handed on as they are. */
import { queryOptions, useQueries, useQuery, useQueryClient } from "@tanstack/react-query";
import { type ApiError, get, getBinary, type Query, type Route } from "./client";
import { allSteps, type Result, useAnswer, useTraceQuery } from "./queries";
import type {
  Answers,
  CounterSeries,
  DerivedAnswer,
  DrawnTrack,
  EventArguments,
  FlowColumns,
  NamesOfSlices,
  Neighbour,
  PieceFound,
  RunOverview,
  SearchResult,
  SharedCollective,
  SliceDetails,
  SliceReference,
  TimelineAnswer,
  TimelineLevel,
  WindowTotals,
} from "./schema.gen";
import type { StepChoice, TraceKey } from "./types";

export type TimelineMeta = TimelineAnswer;
export type TimelineTrack = DrawnTrack;
export type TimelineCounter = CounterSeries;
export type SliceRef = SliceReference;
type EventArgs = EventArguments;
export type DerivedMeta = DerivedAnswer;
export type TimelineSearch = SearchResult;
export type RangeSums = WindowTotals;
export type TimelineFlows = FlowColumns;
export type Collective = SharedCollective;
export type { RunOverview, SliceDetails, TimelineLevel };

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
          get("timeline", { run, worker, span, ...how }, signal),
      };
    }),
  }) as Result<TimelineMeta>[];
}

/** `1,2,3,7` as `1-3,7`; the numbers ascend. */
function numberList(numbers: readonly number[]): string {
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
  columns: TileColumns,
  signal: AbortSignal,
): Promise<ArrayBuffer> {
  const { operators, slack } = columns;
  const query = { ...key, level, tile, lanes: numberList(lanes), operators: operators ? 1 : null };
  return slack === null
    ? getBinary("timeline/tiles", query, signal)
    : getBinary("timeline/slack", { ...query, ...slack }, signal);
}

/** Columns that a tile has beside those that all have. */
export interface TileColumns {
  readonly operators: boolean;
  /** Null without; else how steps are to be found for it. */
  readonly slack: StepChoice | null;
}

export function stepChoice(steps?: string, step_pattern?: string): StepChoice {
  return { ...(steps ? { steps } : {}), ...(step_pattern ? { step_pattern } : {}) };
}

/** What lanes of the trace are computed: the critical path, why devices idle, what the program did. */
export const DERIVED_KINDS = ["path", "idle", "phases"] as const;
export type DerivedKind = (typeof DERIVED_KINDS)[number];

/** What there is of lanes that are computed, asked once they are wanted. Takes a while when it is first asked for. */
export function useDerivedLanes(
  lanes: readonly { readonly key: TimelineKey; readonly of: DerivedKind }[],
  how: StepChoice,
  enabled: boolean,
): Result<DerivedMeta>[] {
  return useQueries({
    queries: lanes.map(({ key: { v, ...trace }, of }) => ({
      queryKey: ["trace", trace.run, trace.worker, trace.span, how, "timeline/derived", of],
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        get("timeline/derived", { ...trace, ...how, v, of }, signal),
      enabled,
    })),
  }) as Result<DerivedMeta>[];
}

/** The event of the next or previous piece of the critical path from a time of the rank, ns; not that of `row`. */
export function nextOnPath(
  key: TimelineKey,
  how: StepChoice,
  time: number,
  row: number | null,
  by: -1 | 1,
): Promise<PieceFound> {
  const direction = by < 0 ? "previous" : "next";
  return get("timeline/path/next", { ...key, ...how, time: Math.round(time), row, direction });
}

export function derivedTile(
  key: TimelineKey,
  how: StepChoice,
  of: DerivedKind,
  level: number,
  tile: number,
  signal: AbortSignal,
): Promise<ArrayBuffer> {
  return getBinary("timeline/derived/tiles", { ...key, ...how, of, level, tile }, signal);
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
): Promise<NamesOfSlices> {
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
): Promise<Neighbour> {
  return get("timeline/next", { ...key, row, direction });
}

/** `key` is null while there is nothing to ask about. */
function useTimelineQuery<R extends Route>(
  route: R,
  key: TimelineKey | null,
  query: Query,
): Result<Answers[R]> {
  return useAnswer(
    ["trace", key?.run, key?.worker, key?.span, key?.v, route, query],
    (signal) => get(route, { ...key, ...query }, signal),
    { enabled: key !== null, keep: false },
  );
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

/** The same question to several ranks, in their order; `queries`: of each rank. */
function ofRanks<R extends Route>(
  route: R,
  keys: readonly TimelineKey[],
  queries: readonly Query[] | null,
) {
  const asked = keys.map(({ run, worker, span, v }, at) => ({
    run,
    worker,
    span,
    v,
    ...queries?.[at],
  }));
  return queryOptions<Answers[R][], ApiError>({
    queryKey: ["trace", keys[0]?.run, null, route, asked],
    queryFn: ({ signal }) => Promise.all(asked.map((query) => get(route, query, signal))),
    enabled: queries !== null && keys.length > 0,
  });
}

/** See `ofRanks`; null while there is nothing to ask. */
function useRanksQuery<R extends Route>(
  route: R,
  keys: readonly TimelineKey[],
  queries: readonly Query[] | null,
): Result<Answers[R][]> {
  return useQuery(ofRanks(route, keys, queries));
}

/** `hits`: of each rank at most. */
interface SearchOfRanks {
  readonly q: string;
  readonly mode: "text" | "regex";
  readonly hits: number;
}

function askEach(keys: readonly TimelineKey[], search: SearchOfRanks): Query[] {
  return keys.map(() => ({ ...search }));
}

export function useTimelineSearch(
  keys: readonly TimelineKey[],
  search: SearchOfRanks,
): Result<TimelineSearch[]> {
  return useRanksQuery("timeline/search", keys, search.q === "" ? null : askEach(keys, search));
}

/**
 * Asks the same for what happens once, not for what is shown; what is known or under way is not asked again.
 * Rejects with an ApiError.
 */
export function useSearchOnce(): (
  keys: readonly TimelineKey[],
  search: SearchOfRanks,
) => Promise<TimelineSearch[]> {
  const client = useQueryClient();
  return (keys, search) =>
    client.fetchQuery(ofRanks("timeline/search", keys, askEach(keys, search)));
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
  return useAnswer(
    ["trace", run, null, span, "timeline/overview", bins],
    (signal) => get("timeline/overview", { run, span, bins }, signal),
    { enabled: sel !== null, keep: false },
  );
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
