/** The server's answers as React hooks. Keys start with "trace", run, worker, span. */
import {
  keepPreviousData,
  QueryClient,
  type UseQueryOptions,
  type UseQueryResult,
  useQuery,
  useQueryClient,
} from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { ApiError, get, type Query, type Route } from "./client";
import { LOADING_MS, MAX_FAILURES, pollDelay } from "./poll";
import { reportMade } from "./report";
import type { Answers } from "./schema.gen";
import type { Health, Overview, Status, TraceKey } from "./types";

export type Result<T> = UseQueryResult<T, ApiError>;

/** What the answer to a question about the baseline is, once it is here. */
export function settled<T>(query: Result<T>): T | null {
  return query.isPlaceholderData ? null : (query.data ?? null);
}

export const STATUS_KEY = ["status"] as const;

export function traceKey(sel: TraceKey): readonly unknown[] {
  return ["trace", sel.run, sel.worker, sel.span];
}

/** The same trace with all its steps. */
export function allSteps({ from_step: _, to_step: __, ...sel }: TraceKey): TraceKey {
  return sel;
}

export function createQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        // The server is often on this machine: being offline says nothing about it.
        networkMode: "always",
        // A trace file does not change; when it does, the status says so and the answers are dropped.
        staleTime: Number.POSITIVE_INFINITY,
        gcTime: 10 * 60_000,
        refetchOnWindowFocus: false,
        retry: (failures, error) =>
          error instanceof ApiError && error.transient && failures + 1 < MAX_FAILURES,
        retryDelay: 1_000,
      },
    },
  });
}

/** The status as last seen. Does not poll; see `useStatusPolling`. */
export function useStatus(): Result<Status> {
  return useQuery<Status, ApiError>({ ...statusQuery, refetchOnMount: false });
}

/** Keeps the status fresh. Called once, by the shell: every observer has a timer of its own. */
export function useStatusPolling(): Result<Status> {
  return useQuery<Status, ApiError>({
    ...statusQuery,
    // A hidden page asks for nothing; one that is looked at again asks at once.
    refetchOnWindowFocus: "always",
    // A report does not change.
    refetchInterval: (query) =>
      reportMade() === null && pollDelay(query.state.data, query.state.status === "error"),
  });
}

const statusQuery = {
  queryKey: STATUS_KEY,
  queryFn: ({ signal }: { signal: AbortSignal }) => get("status", {}, signal),
  retry: MAX_FAILURES - 1,
  retryDelay: LOADING_MS,
  staleTime: 0,
};

/** Calls `then` when the server answers again after it was lost. */
export function useServerReturned({ isError, isSuccess }: Result<Status>, then: () => void): void {
  const wasLost = useRef(false);
  useEffect(() => {
    if (isError) wasLost.current = true;
    else if (isSuccess && wasLost.current) {
      wasLost.current = false;
      then();
    }
  });
}

/** Drops the answers about a trace whose file has changed, or which has only now become ready. */
export function useDropStale(status: Status | undefined): void {
  const client = useQueryClient();
  const seen = useRef(new Map<string, string>());
  useEffect(() => {
    for (const run of status?.runs ?? []) {
      for (const trace of run.traces) {
        const key = traceKey({ run: run.name, worker: trace.worker, span: trace.span });
        const id = key.join("\n");
        const version = `${trace.file} ${trace.size} ${trace.state}`;
        const before = seen.current.get(id);
        seen.current.set(id, version);
        if (before !== undefined && before !== version) {
          void client.invalidateQueries({ queryKey: key });
        }
      }
    }
  }, [client, status]);
}

export function useOverview(sel: TraceKey | null): Result<Overview> {
  return useTraceQuery("overview", sel);
}

export function useHealth(sel: TraceKey | null): Result<Health> {
  // About the whole file, whatever steps are looked at.
  return useTraceQuery("health", sel && allSteps(sel));
}

interface Asking {
  readonly enabled?: boolean;
  /** Whether the old answer stays, dimmed, until the new one is here. */
  readonly keep?: boolean;
}

/** An answer by its key; what is still loading on the server is looked for again until it is done. */
export function useAnswer<T>(
  queryKey: readonly unknown[],
  ask: (signal: AbortSignal) => Promise<T>,
  { enabled = true, keep = true }: Asking = {},
): Result<T> {
  return useQuery<T, ApiError>({
    queryKey,
    queryFn: ({ signal }) => ask(signal),
    enabled,
    placeholderData: keep ? (keepPreviousData as Kept<T>) : undefined,
    refetchInterval: (query) => (query.state.error?.loading ? LOADING_MS : false),
  });
}

type Kept<T> = UseQueryOptions<T, ApiError>["placeholderData"];

/** An answer about one trace; other files of this folder make their hooks of it. */
export function useTraceQuery<R extends Route>(
  route: R,
  sel: TraceKey | null,
  query: Query = {},
  { keep } = { keep: true },
): Result<Answers[R]> {
  const { run, worker, span, ...how } = sel ?? {};
  return useAnswer(
    ["trace", run ?? null, worker ?? null, span ?? null, how, route, query],
    (signal) => get(route, { ...sel, ...query }, signal),
    { enabled: sel !== null, keep },
  );
}
