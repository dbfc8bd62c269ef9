import { type Rows, textAt } from "./model";

/** One row: where its values are. */
interface RowPlace {
  readonly rows: Rows;
  readonly row: number;
}

/** The rows of a grid in the order they are shown, wherever they come from. */
export interface RowSource {
  readonly length: number;
  /** Null while it is on its way. */
  readonly at: (index: number) => RowPlace | null;
  /** What the row at a place is known by: the same as long as it is the same row. */
  readonly keyAt: (index: number) => string | number;
  /** The first place whose row has this text, -1 where it is not known. */
  readonly indexOf: (key: string, text: string) => number;
}

/** Rows that are all here. */
export function localRows(rows: Rows, order: readonly number[]): RowSource {
  return {
    length: order.length,
    at: (index) => {
      const row = order[index];
      return row === undefined ? null : { rows, row };
    },
    keyAt: (index) => order[index] ?? index,
    indexOf: (key, text) => order.findIndex((row) => textAt(rows, key, row) === text),
  };
}

/** Rows that come in pages. `name`: of this order and filter; `pageAt` gives what is here. */
export function pagedRows(
  name: string,
  length: number,
  pageRows: number,
  pageAt: (page: number) => Rows | undefined,
  pages: readonly number[],
): RowSource {
  return {
    length,
    at: (index) => {
      const rows = pageAt(Math.floor(index / pageRows));
      return rows ? { rows, row: index % pageRows } : null;
    },
    keyAt: (index) => `${name}#${index}`,
    indexOf: (key, text) => {
      for (const page of pages) {
        const row = pageAt(page)?.[key]?.indexOf(text) ?? -1;
        if (row >= 0) return page * pageRows + row;
      }
      return -1;
    },
  };
}

/** The pages that hold some rows; the least is one. */
export function pagesOf(first: number, last: number, pageRows: number): number[] {
  const from = Math.max(0, Math.floor(first / pageRows));
  const to = Math.max(from, Math.floor(last / pageRows));
  return Array.from({ length: to - from + 1 }, (_, i) => from + i);
}
