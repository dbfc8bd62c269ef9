import { useMemo } from "react";
import { isCut, type Result, type TableHandle, type TablePage, useRows, useTable } from "../api";
import { equals } from "../format";
import type { Rows, Table } from "./model";
import type { RemoteTable } from "./useRemoteRows";

export type TableRoute = TableHandle["route"];
export type Answer<R extends TableRoute> = Extract<ReturnType<typeof useTable<R>>["data"], object>;

/** An answer of the server that is a table, whole or its first page. */
interface TableAnswer extends Table {
  readonly meta: object & { readonly total?: number };
}

/** For `DataTable`: where the rest of a table is, null when the answer is the whole of it. `handle`: null of one that always is. */
export function useRemoteTable<A>(
  answer: A,
  handle: TableHandle | null,
  shape: (answer: A) => Table,
): RemoteTable | null {
  const cut = handle !== null && isCut(answer as TableAnswer);
  const text = JSON.stringify(handle);
  return useMemo(
    () =>
      cut
        ? {
            source: JSON.parse(text) as TableHandle,
            shape: shape as unknown as (answer: TablePage) => Table,
          }
        : null,
    [cut, text, shape],
  );
}

/** A table with all its rows: where the first answer is only a page and all are `wanted`, the rest is fetched. */
export function useWhole<R extends TableRoute>(
  handle: TableHandle<R>,
  wanted = true,
): Result<Answer<R>> {
  const query = useTable(handle) as Result<Answer<R>>;
  const cut = wanted && query.data !== undefined && isCut(query.data);
  const found = useRows(cut ? handle : null, {}) as Result<Answer<R>>;
  return cut ? found : query;
}

/** The rows with the largest values of a column; null while they are on their way. */
export function useLargest<R extends TableRoute>(
  answer: Answer<R>,
  handle: TableHandle<R>,
  key: string,
): Answer<R> | null {
  const cut = isCut(answer);
  const found = useRows(cut ? handle : null, { sort: `-${key}` }, MOST_LARGEST);
  return cut ? ((found.data as Answer<R> | undefined) ?? null) : answer;
}

const MOST_LARGEST = 1000;

/** What a chart of the rows here leaves out, because they are not here. */
export function notHere(answer: TableAnswer, key: string): { count: number; value: number } {
  const values = answer.rows[key] ?? [];
  const sum = answer.columns.find((column) => column.key === key)?.sum;
  if (sum === undefined) return { count: 0, value: 0 };
  const here = values.reduce<number>(
    (total, cell) => total + (typeof cell === "number" ? cell : 0),
    0,
  );
  return { count: (answer.meta.total ?? values.length) - values.length, value: sum - here };
}

interface FoundRow<A> {
  readonly answer: A;
  /** In the rows of the answer; -1 when the table has no such row, null while that is not known. */
  readonly row: number | null;
}

/** The row of a name, wherever it is. */
export function useRowOf<R extends TableRoute>(
  answer: Answer<R>,
  handle: TableHandle<R>,
  name: string,
): FoundRow<Answer<R>> {
  const row = rowOf(answer.rows, name);
  const ask = row < 0 && isCut(answer);
  const found = useRows(ask ? handle : null, { filter: equals("name", name) });
  const data = found.data as Answer<R> | undefined;
  if (!ask) return { answer, row };
  if (data) return { answer: data, row: rowOf(data.rows, name) };
  return { answer, row: found.isError ? -1 : null };
}

function rowOf(rows: Rows, name: string): number {
  return rows.name?.indexOf(name) ?? -1;
}
