/** /api/ranks: who is slow, what it costs, and how the ranks of a run work together. */
import { keepPreviousData, type UseQueryOptions, useQuery } from "@tanstack/react-query";
import { type ApiError, get, type Query, type Route } from "./client";
import { stateOfSpan } from "./distributed";
import { LOADING_MS } from "./poll";
import { type Result, useStatus } from "./queries";
import type { Answers } from "./schema.gen";

export type {
  BandwidthFit,
  CollectiveRow,
  CollectiveTable,
  Columns,
  FsdpGathers,
  HeatMap,
  Layout,
  MissingCollective,
  MoeImbalance,
  Pipeline,
  PipelineStage,
  RanksOverview,
  Representative,
  RunGroup,
  RunRanks,
  RunTiles,
  SlowLink,
  Straggler,
} from "./schema.gen";

/** An answer about all ranks of a span. While they are read, it is asked for again whenever another one is there. */
export function useRanksQuery<R extends Route>(
  route: R,
  run: string | null,
  span: string | null,
  query: Query = {},
): Result<Answers[R]> {
  const status = useStatus().data;
  const known = run !== null && span !== null;
  return useQuery<Answers[R], ApiError>({
    queryKey: ["run", run, span, route, query, known ? stateOfSpan(status, run, span) : ""],
    queryFn: ({ signal }) => get(route, { run, span, ...query }, signal),
    enabled: known && status !== undefined,
    placeholderData: keepPreviousData as UseQueryOptions<Answers[R], ApiError>["placeholderData"],
    refetchInterval: (q) => (q.state.error?.loading ? LOADING_MS : false),
  });
}

export function useRanks(run: string | null, span: string | null): Result<Answers["ranks"]> {
  return useRanksQuery("ranks", run, span);
}

export function useRankHeat(
  run: string | null,
  span: string | null,
  metric: string,
): Result<Answers["ranks/heatmap"]> {
  return useRanksQuery("ranks/heatmap", run, span, { metric });
}

export type RankClock = Answers["ranks/clock"];

/** One clock for the ranks of a run; null asks nothing. */
export function useRankClock(trace: { run: string; span: string } | null): Result<RankClock> {
  return useRanksQuery("ranks/clock", trace?.run ?? null, trace?.span ?? null);
}
