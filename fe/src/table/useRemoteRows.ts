import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useMemo, useState } from "react";
import {
  type ApiError,
  fetchRows,
  PAGE_ROWS,
  type TableHandle,
  type TablePage,
  type TableQuery,
  useFirstPage,
  usePages,
} from "../api";
import type { Table } from "./model";
import { pagedRows, pagesOf, type RowSource } from "./rows";

/** A table of which the browser has some rows, and the server all. */
export interface RemoteTable<A extends TablePage = TablePage> {
  readonly source: TableHandle;
  /** What the view makes of an answer: hidden and derived columns. Must keep its identity. */
  readonly shape: (answer: A) => Table;
}

export interface RemoteRows {
  readonly source: RowSource;
  readonly total: number;
  /** Another order or filter is on its way. */
  readonly busy: boolean;
  readonly error: ApiError | null;
  readonly retry: () => void;
  /** Tells which rows are looked at. */
  readonly onRange: (first: number, last: number) => void;
  /** All rows that pass the filter, in order. */
  readonly all: () => Promise<Table>;
}

const FIRST = [0];
const NOTHING = pagedRows("", 0, PAGE_ROWS, () => undefined, []);

/** Filtered and sorted by the server, and fetched as far as they are in sight. */
export function useRemoteRows(remote: RemoteTable | null, asked: TableQuery): RemoteRows {
  const client = useQueryClient();
  const head = useFirstPage(remote?.source ?? null, asked);
  // What is shown is what has arrived, not what was asked for last.
  const settled = head.data?.asked ?? asked;
  const [wanted, setWanted] = useState<readonly number[]>(FIRST);
  const pages = usePages(head.data ? (remote?.source ?? null) : null, settled, wanted);

  const shape = remote?.shape;
  const shaped = useMemo(() => shaper(shape), [shape]);
  const source = useMemo(() => {
    if (!head.data) return NOTHING;
    const first = head.data.page;
    return pagedRows(
      JSON.stringify(settled),
      first.meta.matched,
      PAGE_ROWS,
      (page) => {
        const answer = pages.at(page) ?? (page === 0 ? first : undefined);
        return answer && shaped(answer).rows;
      },
      [0, ...wanted],
    );
  }, [head.data, settled, pages, wanted, shaped]);

  const onRange = useCallback((first: number, last: number) => {
    const next = pagesOf(first, last, PAGE_ROWS);
    setWanted((now) => (now.join() === next.join() ? now : next));
  }, []);

  const all = async () => {
    if (!remote) throw new Error("these rows are not the server's");
    return remote.shape(await fetchRows(client, remote.source, settled));
  };
  return {
    source,
    total: head.data?.page.meta.total ?? 0,
    busy: head.isPlaceholderData || (head.isFetching && !head.data),
    error: head.error ?? pages.error,
    retry: () => {
      if (head.error) void head.refetch();
      pages.retry();
    },
    onRange,
    all,
  };
}

/** Each answer is made into a table once. */
function shaper(shape: RemoteTable["shape"] | undefined): (answer: TablePage) => Table {
  const made = new WeakMap<TablePage, Table>();
  return (answer) => {
    let table = made.get(answer);
    if (!table) {
      table = shape ? shape(answer) : answer;
      made.set(answer, table);
    }
    return table;
  };
}
