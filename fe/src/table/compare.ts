/** Tables of two traces side by side. Pure. */
import { percentChange } from "../format";
import { inWords } from "./columns";
import {
  allRows,
  type Cell,
  type Column,
  numberAt,
  numberColumn,
  type Rows,
  rowCount,
  type Table,
  textAt,
  textColumn,
} from "./model";

/** What became of a row: only in the experiment, only in the baseline, or more, less or as much as before. */
type RowStatus = "new" | "gone" | "more" | "less" | "same";

export function statusOf(before: number | null, after: number | null, change: number): RowStatus {
  if (!before && after) return "new";
  if (before && !after) return "gone";
  return change > 0 ? "more" : change < 0 ? "less" : "same";
}

interface ComparedTexts {
  readonly baseline: (label: string) => string;
  readonly delta: (label: string) => string;
  readonly deltaPercent: (label: string) => string;
  readonly baselineHelp: (help: string) => string;
  readonly deltaHelp: (help: string) => string;
  readonly deltaPercentHelp: (label: string) => string;
  readonly status: string;
  readonly statusHelp: string;
  readonly statuses: Readonly<Record<RowStatus, string>>;
}

interface Comparison {
  /** What makes two rows the same one: those of these columns that the table has. */
  readonly keys: readonly string[];
  /** Columns that get those of the baseline and the change behind them; the first that both have says what is more and what less. */
  readonly measures: readonly string[];
  /** Those of them whose new columns are shown without being asked for. */
  readonly shown: readonly string[];
  /** The column that is 0 where a side does not have the row. */
  readonly calls: string;
  readonly texts: ComparedTexts;
}

export const STATUS = "status";
const baselineOf = (key: string) => `base_${key}`;
export const deltaOf = (key: string) => `delta_${key}`;
export const deltaPercentOf = (key: string) => `delta_${key.replace(/_(ns|bytes)$/, "")}_percent`;

/**
 * The table of the experiment with the numbers of the baseline, joined by the columns that name a row. Rows that only
 * the baseline has are added at the end: there the experiment counts 0.
 */
export function withBaseline(table: Table, baseline: Table, comparison: Comparison): Table {
  const { keys, measures, shown, calls, texts } = comparison;
  const have = (column: string) => table.columns.some(({ key }) => key === column);
  const names = keys.filter(have);
  // A table without device work has no such columns; against one that has, that is 0 and not unknown.
  const measured = measures.filter((key) => have(key) || baseline.rows[key]);
  const rows = joined(table, baseline, names, measured, calls);
  const columns = table.columns.flatMap((column) =>
    measured.includes(column.key)
      ? [column, ...addedColumns(column, texts, !shown.includes(column.key))]
      : [column],
  );
  for (const column of baseline.columns.filter(({ key }) => measured.includes(key) && !have(key)))
    columns.push(column, ...addedColumns(column, texts, !shown.includes(column.key)));

  const all = rowCountOf(rows, names);
  for (const key of measured) {
    const before = rows[baselineOf(key)] as Cell[];
    const after = rows[key] as Cell[];
    const at = (cells: readonly Cell[], row: number) => numberOf(cells[row]);
    rows[deltaOf(key)] = Array.from({ length: all }, (_, row) =>
      difference(at(before, row), at(after, row)),
    );
    rows[deltaPercentOf(key)] = Array.from({ length: all }, (_, row) =>
      percentChange(at(before, row), at(after, row)),
    );
  }
  const judged = measured[0] ?? calls;
  rows[STATUS] = Array.from({ length: all }, (_, row) =>
    statusOf(
      numberAt(rows, baselineOf(calls), row),
      numberAt(rows, calls, row),
      numberAt(rows, deltaOf(judged), row) ?? 0,
    ),
  );
  const place = columns.findIndex(({ key }) => key === calls);
  columns.splice(place < 0 ? columns.length : place, 0, statusColumn(texts));
  return { columns, rows };
}

function addedColumns(column: Column, texts: ComparedTexts, hidden: boolean): Column[] {
  // In words already: what is put together here is not known as a whole.
  const { key, label, unit, help } = inWords(column);
  const change = changeOf(column);
  return [
    numberColumn(baselineOf(key), texts.baseline(label), unit, {
      hidden,
      help: texts.baselineHelp(help ?? label),
    }),
    numberColumn(deltaOf(key), texts.delta(label), unit, {
      hidden,
      change,
      help: texts.deltaHelp(help ?? label),
    }),
    numberColumn(deltaPercentOf(key), texts.deltaPercent(label), "percent", {
      hidden,
      change,
      help: texts.deltaPercentHelp(label),
    }),
  ];
}

/** What became of each row. */
export function statusColumn(
  texts: Pick<ComparedTexts, "status" | "statusHelp" | "statuses">,
): Column {
  return textColumn(STATUS, texts.status, { help: texts.statusHelp, words: texts.statuses });
}

/** Time and memory are costs; more calls are not in themselves worse. */
export function changeOf({ unit }: Column): "cost" | "plain" {
  return unit === "ns" || unit === "bytes" ? "cost" : "plain";
}

function joined(
  table: Table,
  baseline: Table,
  names: readonly string[],
  measures: readonly string[],
  calls: string,
): Record<string, Cell[]> {
  const length = rowCount(table);
  const places = placesOf(baseline, names);
  const partner: (number | undefined)[] = [];
  const taken = new Set<number>();
  for (let row = 0; row < length; row++) {
    // Two rows of the same name are two rows on the other side as well: each is taken once, in order.
    const at = places.get(nameOf(table.rows, names, row))?.shift();
    partner.push(at);
    if (at !== undefined) taken.add(at);
  }
  const gone = allRows(baseline).filter((row) => !taken.has(row));
  const rows: Record<string, Cell[]> = {};
  for (const { key } of table.columns) {
    const cells = table.rows[key] ?? [];
    rows[key] = [...cells, ...gone.map((row) => goneCell(key, row))];
  }
  for (const key of new Set([...measures, calls])) {
    rows[key] ??= [...Array<Cell>(length).fill(0), ...gone.map(() => 0)];
    const cells = baseline.rows[key];
    rows[baselineOf(key)] = [
      ...partner.map((row) => (row === undefined ? 0 : (cells?.[row] ?? 0))),
      ...gone.map((row) => cells?.[row] ?? 0),
    ];
  }
  return rows;

  function goneCell(key: string, row: number): Cell {
    if (names.includes(key)) return baseline.rows[key]?.[row] ?? null;
    return measures.includes(key) || key === calls ? 0 : null;
  }
}

function placesOf(table: Table, names: readonly string[]): Map<string, number[]> {
  const places = new Map<string, number[]>();
  for (let row = 0; row < rowCount(table); row++) {
    const name = nameOf(table.rows, names, row);
    const those = places.get(name);
    if (those) those.push(row);
    else places.set(name, [row]);
  }
  return places;
}

function nameOf(rows: Rows, names: readonly string[], row: number): string {
  return JSON.stringify(names.map((key) => textAt(rows, key, row)));
}

function rowCountOf(rows: Rows, names: readonly string[]): number {
  return rows[names[0] ?? ""]?.length ?? 0;
}

function numberOf(cell: Cell): number | null {
  return typeof cell === "number" ? cell : null;
}

function difference(before: number | null, after: number | null): number | null {
  return before === null || after === null ? null : after - before;
}
