/**
 * Rows of tables too large to be sent whole: pages in an order, of the rows that pass a filter.
 * Keys start with "trace", run, worker, span, as those of all answers about a trace.
 */
import {
  type QueryClient,
  type UseQueryOptions,
  useQueries,
  useQuery,
} from "@tanstack/react-query";
import { useMemo } from "react";
import { type ApiError, get, type Query } from "./client";
import { type MemoryRange, memoryEnds } from "./memory";
import { LOADING_MS } from "./poll";
import { type Result, traceKey, useTraceQuery } from "./queries";
import type { Answers } from "./schema.gen";
import type { KernelGroup, OperatorGroup, RooflineGroup, TraceKey } from "./types";

/** Rows of a page that is asked for while scrolling. */
export const PAGE_ROWS = 200;

/** Milliseconds that a page must be wanted for: those that only fly past are never asked for. */
const PATIENCE_MS = 100;

/** Routes whose answers are tables in pages. */
type TableRoute =
  | "operators"
  | "operators/stacks"
  | "operators/kernels"
  | "kernels"
  | "roofline"
  | "critical_path/pieces"
  | "memory/operators"
  | "memory/events";

/** Which table of which trace: all that is asked of a table is asked of its handle. */
export interface TableHandle<R extends TableRoute = TableRoute> {
  readonly route: R;
  /** Null while there is nothing to ask about. */
  readonly sel: TraceKey | null;
  readonly query: Query;
}

function handle<R extends TableRoute>(
  route: R,
  sel: TraceKey | null,
  query: Query,
): TableHandle<R> {
  return { route, sel, query };
}

/** The handles of the tables there are. */
export const tables = {
  operators: (sel: TraceKey | null, group: OperatorGroup = "name", withForward = false) =>
    handle("operators", sel, {
      group_by: group,
      backward: withForward ? "with_forward" : undefined,
    }),
  /** The rows of one operator, split by call stack. */
  operatorStacks: (sel: TraceKey | null, name: string, shape: string | null) =>
    handle("operators/stacks", sel, { name, input_shape: shape }),
  /** The kernels that one operator launched itself. */
  operatorKernels: (sel: TraceKey | null, name: string, shape: string | null) =>
    handle("operators/kernels", sel, { name, input_shape: shape }),
  kernels: (sel: TraceKey | null, group: KernelGroup = "name") =>
    handle("kernels", sel, { group_by: group }),
  roofline: (sel: TraceKey | null, group: RooflineGroup) =>
    handle("roofline", sel, { group_by: group }),
  /** The critical path of one step, piece by piece. */
  pathPieces: (sel: TraceKey | null, step: string) => handle("critical_path/pieces", sel, { step }),
  /** Without a device nothing is asked: it is not known yet. */
  memoryOperators: (sel: TraceKey | null, device: string | null, range: MemoryRange | null) =>
    handle("memory/operators", device === null ? null : sel, { device, ...memoryEnds(range) }),
  memoryEvents: (sel: TraceKey | null, device: string | null, range: MemoryRange | null) =>
    handle("memory/events", device === null ? null : sel, { device, ...memoryEnds(range) }),
};

/** The answer that a view begins with: the whole table, or its first page. */
export function useTable<R extends TableRoute>(
  { route, sel, query }: TableHandle<R>,
  { keep } = { keep: true },
): Result<Answers[R]> {
  return useTraceQuery(route, sel, query, { keep });
}

/** What is asked of a table; see docs/tables.md. */
export interface TableQuery {
  readonly sort?: string;
  readonly filter?: string;
  /** The column in which plain words of the filter are looked for. */
  readonly search?: string;
}

export type TablePage = Answers[TableRoute];

/** A page, and what it is a page of. */
interface PageOf {
  readonly source: TableHandle;
  readonly asked: TableQuery;
  readonly page: TablePage;
}

/** Whether the answer is only the first page of its table. */
export function isCut(answer: {
  readonly meta: object & { readonly total?: number };
  readonly columns: readonly { readonly key: string }[];
  readonly rows: Readonly<Record<string, readonly unknown[]>>;
}): boolean {
  const first = answer.columns[0];
  const here = first ? (answer.rows[first.key]?.length ?? 0) : 0;
  return (answer.meta.total ?? here) > here;
}

/**
 * The first page in a new order or of another filter. The one before stays until it is here; `data.asked` says
 * which it is.
 */
export function useFirstPage(source: TableHandle | null, asked: TableQuery): Result<PageOf> {
  return useQuery<PageOf, ApiError>({
    ...pageOptions(source, asked, 0, 0),
    enabled: isAsked(source),
    placeholderData: (previous) =>
      previous && sameTable(previous.source, source) ? previous : undefined,
    refetchInterval: (query) => (query.state.error?.loading ? LOADING_MS : false),
  });
}

export interface Pages {
  readonly at: (page: number) => TablePage | undefined;
  readonly error: ApiError | null;
  readonly retry: () => void;
}

/** Some pages. Those no longer wanted are cancelled, or kept for a while when they are here. */
export function usePages(
  source: TableHandle | null,
  asked: TableQuery,
  pages: readonly number[],
): Pages {
  const results = useQueries<UseQueryOptions<PageOf, ApiError>[], Combined>({
    queries: source
      ? pages.map((page) => pageOptions(source, asked, page, page === 0 ? 0 : PATIENCE_MS))
      : [],
    combine: combinePages,
  });
  return useMemo(
    () => ({
      at: (page: number) => results.pages[pages.indexOf(page)],
      error: results.error,
      retry: results.retry,
    }),
    [results, pages],
  );
}

interface Combined {
  readonly pages: readonly (TablePage | undefined)[];
  readonly error: ApiError | null;
  readonly retry: () => void;
}

function combinePages(results: readonly Result<PageOf>[]): Combined {
  return {
    pages: results.map(({ data }) => data?.page),
    error: results.find(({ error }) => error !== null)?.error ?? null,
    retry: () => {
      for (const { error, refetch } of results) if (error) void refetch();
    },
  };
}

/** All rows at once, in this order, of those that pass the filter: for an export. */
export function fetchRows(
  client: QueryClient,
  source: TableHandle,
  asked: TableQuery,
): Promise<TablePage> {
  return client.fetchQuery({
    queryKey: [...keyOf(source), asked, "all"],
    queryFn: ({ signal }) => fetchPage(source, asked, { limit: "all" }, signal),
    // Large, and seldom wanted twice.
    gcTime: 0,
  });
}

/** The rows of a table that pass a filter, all of them or the first. For tables of which few rows are wanted. */
export function useRows<R extends TableRoute>(
  source: TableHandle<R> | null,
  asked: TableQuery,
  limit: number | "all" = "all",
): Result<Answers[R]> {
  return useQuery<Answers[R], ApiError>({
    queryKey: [...keyOf(source), asked, limit],
    queryFn: ({ signal }) => fetchPage(source, asked, { limit }, signal),
    enabled: isAsked(source),
    refetchInterval: (query) => (query.state.error?.loading ? LOADING_MS : false),
  });
}

function pageOptions(source: TableHandle | null, asked: TableQuery, page: number, wait: number) {
  return {
    queryKey: [...keyOf(source), asked, page],
    queryFn: async ({ signal }: { signal: AbortSignal }): Promise<PageOf> => {
      await pause(wait, signal);
      const range = { offset: page * PAGE_ROWS, limit: PAGE_ROWS };
      if (!source) throw nothingToAsk();
      return { source, asked, page: await fetchPage(source, asked, range, signal) };
    },
  };
}

async function fetchPage<R extends TableRoute>(
  source: TableHandle<R> | null,
  asked: TableQuery,
  range: { offset?: number; limit: number | "all" },
  signal: AbortSignal,
): Promise<Answers[R]> {
  if (!source) throw nothingToAsk();
  return get(source.route, { ...source.sel, ...source.query, ...asked, ...range }, signal);
}

function nothingToAsk(): Error {
  return new Error("there is no table to ask");
}

function isAsked(source: TableHandle | null): boolean {
  return source !== null && source.sel !== null;
}

function keyOf(source: TableHandle | null): readonly unknown[] {
  if (!source?.sel) return ["trace", null, null, null];
  return [...traceKey(source.sel), source.sel, source.route, source.query, "rows"];
}

function sameTable(a: TableHandle, b: TableHandle | null): boolean {
  return JSON.stringify(keyOf(a)) === JSON.stringify(keyOf(b));
}

/** Rejects as soon as the answer is no longer needed. */
function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  if (milliseconds === 0) return Promise.resolve();
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", stop);
      resolve();
    }, milliseconds);
    signal.addEventListener("abort", stop, { once: true });
  });
}
