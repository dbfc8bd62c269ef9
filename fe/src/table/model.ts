import type { Unit } from "../format";

export type Cell = string | number | boolean | null | undefined;

/** As the API sends it; see docs/api.md, "Tables". */
export interface Column {
  readonly key: string;
  /** Of label and help, for saying them in another language; one with words of its own has none. */
  readonly id?: string;
  readonly label: string;
  readonly type: "string" | "number" | "bool";
  readonly unit: Unit | null;
  /** Definition and formula. */
  readonly help?: string | null;
  /** What shares of this column refer to. */
  readonly total?: number | null;
  /** It makes sense divided by the number of calls. */
  readonly average?: boolean;
  /** The largest magnitude in all rows, where these are not all. */
  readonly largest?: number;
  /** Of all rows, where these are not all. */
  readonly sum?: number;
  /** Draw the value (0…100) as a bar behind the number. */
  readonly bar?: boolean;
  /** The text of a cell where there is little room; the whole text is its tooltip, and what is filtered and copied. */
  readonly brief?: (text: string) => string;
  /** An end of a text that is seen even where there is no room for what stands before it. */
  readonly tail?: string;
  /** How its values are said; a filter finds a value by either. */
  readonly words?: Readonly<Record<string, string>>;
  /** A difference, written with its sign; more of a cost is worse, and has the colour of it. */
  readonly change?: "cost" | "plain";
  /** Rows in which another column, of this key, holds true: there a difference is within the noise, and grey. */
  readonly noise?: string;
  /** Why a cell is empty, as its tooltip. */
  readonly missing?: string;
  /** Each value in the unit that suits it, where one unit for all would make most of them nothing. */
  readonly ownUnits?: boolean;
  /** The unit of the column suits at most this value: moments differ in the digits that a larger unit would drop. */
  readonly atMost?: number;
  /** It takes all that the others leave over; without one that does, the first column, after other columns of text. */
  readonly grow?: boolean;
  /** Not shown until the user asks for it. */
  readonly hidden?: boolean;
  /** Columns of one family are shown in one unit; told by their keys where this is not said. */
  readonly family?: string;
}

/** A column that a page declares itself. */
export function textColumn(key: string, label: string, more: Partial<Column> = {}): Column {
  return { key, label, type: "string", unit: null, ...more };
}

export function numberColumn(
  key: string,
  label: string,
  unit: Unit | null,
  more: Partial<Column> = {},
): Column {
  return { key, label, type: "number", unit, ...more };
}

/** Parallel arrays, one for each column. */
export type Rows = Readonly<Record<string, readonly Cell[]>>;

export interface Table {
  readonly columns: readonly Column[];
  readonly rows: Rows;
}

/** A column with the cell of a row that is an object. */
export interface CellColumn<R> {
  readonly column: Column;
  readonly cell: (row: R) => Cell;
}

/** What a page has to say of a column that the server declares: how it is drawn, and its cells where they are not the fields. */
export type Drawing<R> = Readonly<Record<string, Partial<Column> & { cell?: (row: R) => Cell }>>;

export function tableOf<R>(columns: readonly CellColumn<R>[], rows: readonly R[]): Table {
  return {
    columns: columns.map(({ column }) => column),
    rows: Object.fromEntries(columns.map(({ column, cell }) => [column.key, rows.map(cell)])),
  };
}

/** The columns that the server declares, with the fields of rows that are objects. */
export function declaredCells<R>(
  columns: readonly Column[],
  drawing: Drawing<R> = {},
): CellColumn<R>[] {
  return columns.map((column) => {
    const { cell, ...more } = drawing[column.key] ?? {};
    const field = (row: R) => (row as Readonly<Record<string, Cell>>)[column.key];
    return { column: { ...column, ...more }, cell: cell ?? field };
  });
}

/** Rows that are objects, under the columns that the server declares of them. */
export function declaredTable<R extends object>(
  columns: readonly Column[],
  rows: readonly R[],
  drawing?: Drawing<R>,
): Table {
  return tableOf(declaredCells(columns, drawing), rows);
}

export function rowCount(table: Table): number {
  const first = table.columns[0];
  return first ? (table.rows[first.key]?.length ?? 0) : 0;
}

export function cellOf(rows: Rows, key: string, row: number): Cell {
  return rows[key]?.[row];
}

export function numberAt(rows: Rows, key: string, row: number): number | null {
  const cell = cellOf(rows, key, row);
  return typeof cell === "number" ? cell : null;
}

export function textAt(rows: Rows, key: string, row: number): string {
  const cell = cellOf(rows, key, row);
  return cell === null || cell === undefined ? "" : String(cell);
}

/** How a value is said; values come from files, and may be `constructor`. */
export function wordOf(words: Column["words"], text: string): string | undefined {
  return words && Object.hasOwn(words, text) ? words[text] : undefined;
}

/** What a cell of a column is found by: its value, and the word for it where there is one. */
export function namesAt({ key, words }: Column, rows: Rows, row: number): string[] {
  const text = textAt(rows, key, row);
  const word = wordOf(words, text);
  return word === undefined || word === text ? [text] : [text, word];
}

/** What is shown of the names of kernels: `short_name` of their row, or what stands beside another column of names. */
export function shortNames(
  rows: Rows,
  key = "name",
  shortKey = "short_name",
): (name: string) => string {
  const short = new Map(
    (rows[key] ?? []).map((name, row) => [String(name), textAt(rows, shortKey, row)]),
  );
  return (name) => short.get(name) || name;
}

/** The table with short names where names stand; the whole name is what is filtered, copied and selected. */
export function withShortNames<T extends Table>(table: T): T {
  const brief = shortNames(table.rows);
  const columns = table.columns
    .filter(({ key }) => key !== "short_name")
    .map((column) => (column.key === "name" ? { ...column, brief } : column));
  return { ...table, columns };
}

/** NaN, null and undefined are no values. */
export function isMissing(cell: Cell): cell is null | undefined {
  return cell === null || cell === undefined || (typeof cell === "number" && Number.isNaN(cell));
}

export function hasColumn(table: Table, key: string): boolean {
  return table.columns.some((column) => column.key === key);
}

/** The numbers of all rows. */
export function allRows(table: Table): number[] {
  return Array.from({ length: rowCount(table) }, (_, row) => row);
}

/** The table with some of its rows, in this order; `rows` may have more than the columns. */
export function rowsAt<T extends Table>(table: T, at: readonly number[]): T {
  const rows = Object.entries(table.rows).map(([key, cells]) => [key, at.map((row) => cells[row])]);
  return { ...table, rows: Object.fromEntries(rows) };
}

export function firstRows<T extends Table>(table: T, most: number): T {
  return rowCount(table) <= most ? table : rowsAt(table, allRows(table).slice(0, most));
}

/** The table with one of its rows; with none for -1. */
export function onlyRow<T extends Table>(table: T, row: number): T {
  return rowsAt(table, row < 0 ? [] : [row]);
}

/** The numbers of a column by the name of their row. */
export function byName(table: Table, key: string): Map<string, number> {
  return new Map(
    allRows(table).map((row) => [
      textAt(table.rows, "name", row),
      numberAt(table.rows, key, row) ?? 0,
    ]),
  );
}

/** The table with some of its columns. */
export function only(table: Table, keys: readonly string[]): Table {
  return { columns: table.columns.filter(({ key }) => keys.includes(key)), rows: table.rows };
}
