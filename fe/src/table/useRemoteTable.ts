import { useMemo } from "react";
import {
  isCut,
  type Result,
  type TablePage,
  type TableSource,
  type TraceKey,
  useRows,
} from "../api";
import { equals } from "../format";
import type { Rows, Table } from "./model";
import type { RemoteTable } from "./useRemoteRows";

type Query = TableSource["query"];

/** An answer of the server that is a table, whole or its first page. */
export interface TableAnswer extends Table {
  readonly meta: object & { readonly total?: number };
}

/** Which table of a trace; the same object while it means the same. */
export function useTableSource(
  route: string,
  sel: TraceKey | null,
  query: Query = {},
): TableSource | null {
  const text = JSON.stringify(query);
  return useMemo(() => sel && { route, sel, query: JSON.parse(text) as Query }, [route, sel, text]);
}

/** For `DataTable`: where the rest of a table is, null when the answer is the whole of it. */
export function useRemoteTable<A extends TableAnswer>(
  answer: A,
  source: TableSource | null,
  shape: (answer: A) => Table,
): RemoteTable | null {
  const cut = isCut(answer);
  return useMemo(
    () =>
      cut && source ? { source, shape: shape as unknown as (answer: TablePage) => Table } : null,
    [cut, source, shape],
  );
}

/** An answer with all rows of its table: where it is only the first page, the rest is fetched. Without a source it is not. */
export function useWhole<A extends TableAnswer>(
  query: Result<A>,
  source: TableSource | null,
): Result<A> {
  const cut = query.data !== undefined && isCut(query.data) && source !== null;
  const found = useRows<A>(cut ? source : null, {});
  return cut ? found : query;
}

/** The rows with the largest values of a column; null while they are on their way. */
export function useLargest<A extends TableAnswer>(
  answer: A,
  source: TableSource | null,
  key: string,
): A | null {
  const cut = isCut(answer);
  const found = useRows<A>(cut ? source : null, { sort: `-${key}` }, MOST_LARGEST);
  return cut ? (found.data ?? null) : answer;
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

export interface FoundRow<A> {
  readonly answer: A;
  /** In the rows of the answer; -1 when the table has no such row, null while that is not known. */
  readonly row: number | null;
}

/** The row of a name, wherever it is. */
export function useRowOf<A extends TableAnswer>(
  answer: A,
  source: TableSource | null,
  name: string,
): FoundRow<A> {
  const row = rowOf(answer.rows, name);
  const ask = row < 0 && isCut(answer);
  const found = useRows<A>(ask ? source : null, { filter: equals("name", name) });
  if (!ask) return { answer, row };
  if (found.data) return { answer: found.data, row: rowOf(found.data.rows, name) };
  return { answer, row: found.isError ? -1 : null };
}

function rowOf(rows: Rows, name: string): number {
  return rows.name?.indexOf(name) ?? -1;
}
