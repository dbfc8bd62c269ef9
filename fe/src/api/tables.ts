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
import { LOADING_MS } from "./poll";
import { type Result, traceKey } from "./queries";
import type { Meta, Table, TraceKey } from "./types";

/** Rows of a page that is asked for while somebody scrolls. */
export const PAGE_ROWS = 200;

/** Milliseconds that a page must be wanted for: those that only fly past are never asked for. */
const PATIENCE_MS = 100;

/** Which table of which trace. Must keep its identity while it means the same. */
export interface TableSource {
  readonly route: string;
  readonly sel: TraceKey;
  readonly query: Query;
}

/** What is asked of a table; see docs/tables.md. */
export interface TableQuery {
  readonly sort?: string;
  readonly filter?: string;
  /** The column in which plain words of the filter are looked for. */
  readonly search?: string;
}

export interface PageMeta extends Meta {
  total: number;
  /** Rows that pass the filter. */
  matched: number;
  offset: number;
}

export type TablePage = Table<PageMeta>;

/** A page, and what it is a page of. */
export interface Asked {
  readonly source: TableSource;
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
export function useFirstPage(source: TableSource | null, asked: TableQuery): Result<Asked> {
  return useQuery<Asked, ApiError>({
    ...pageOptions(source, asked, 0, 0),
    enabled: source !== null,
    placeholderData: (previous) => (previous?.source === source ? previous : undefined),
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
  source: TableSource | null,
  asked: TableQuery,
  pages: readonly number[],
): Pages {
  const results = useQueries<UseQueryOptions<Asked, ApiError>[], Combined>({
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

function combinePages(results: readonly Result<Asked>[]): Combined {
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
  source: TableSource,
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
export function useRows<T>(
  source: TableSource | null,
  asked: TableQuery,
  limit: number | "all" = "all",
): Result<T> {
  return useQuery<T, ApiError>({
    queryKey: [...keyOf(source), asked, limit],
    queryFn: ({ signal }) => get<T>(...routeOf(source, { ...asked, limit }), signal),
    enabled: source !== null,
    refetchInterval: (query) => (query.state.error?.loading ? LOADING_MS : false),
  });
}

function pageOptions(source: TableSource | null, asked: TableQuery, page: number, wait: number) {
  return {
    queryKey: [...keyOf(source), asked, page],
    queryFn: async ({ signal }: { signal: AbortSignal }): Promise<Asked> => {
      await pause(wait, signal);
      const range = { offset: page * PAGE_ROWS, limit: PAGE_ROWS };
      if (!source) throw new Error("there is no table to ask");
      return { source, asked, page: await fetchPage(source, asked, range, signal) };
    },
  };
}

function fetchPage(
  source: TableSource | null,
  asked: TableQuery,
  range: { offset?: number; limit: number | "all" },
  signal: AbortSignal,
): Promise<TablePage> {
  return get<TablePage>(...routeOf(source, { ...asked, ...range }), signal);
}

function routeOf(source: TableSource | null, more: object): [string, Query] {
  return [source?.route ?? "", { ...source?.sel, ...source?.query, ...more }];
}

function keyOf(source: TableSource | null): readonly unknown[] {
  if (!source) return ["trace", null, null, null];
  return [...traceKey(source.sel), source.sel, source.route, source.query, "rows"];
}

/** Rejects as soon as nobody waits any more. */
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
