import { columnFormat, exact, MISSING } from "../format";
import { type Cell, type Column, isMissing, type Table } from "./model";

/** A column ready to be drawn. */
export interface DrawnColumn {
  readonly column: Column;
  /** The unit all values of the column are shown in, for the header. */
  readonly symbol: string | null;
  readonly text: (cell: Cell) => string;
  /** The unrounded value, or the full text. */
  readonly title: (cell: Cell) => string;
  readonly right: boolean;
  /** Pixels. */
  readonly width: number;
}

export interface BoolTexts {
  readonly yes: string;
  readonly no: string;
  readonly unknown: string;
}

export function drawColumns(table: Table, bools: BoolTexts): DrawnColumn[] {
  return table.columns.map((column, index) => {
    const values = table.rows[column.key] ?? [];
    return column.type === "number"
      ? numberColumn(column, values)
      : column.type === "bool"
        ? boolColumn(column, bools)
        : textColumn(column, index === 0);
  });
}

function numberColumn(column: Column, values: readonly Cell[]): DrawnColumn {
  const { symbol: unit, text } = columnFormat(column.unit, values);
  // "% device self" says its unit already.
  const symbol = unit === "%" && column.label.includes("%") ? null : unit;
  return {
    column,
    symbol,
    text: (cell) => text(typeof cell === "number" ? cell : null),
    title: (cell) => exact(typeof cell === "number" ? cell : null, column.unit),
    right: true,
    width: Math.max(84, headerWidth(column, symbol)),
  };
}

function boolColumn(column: Column, bools: BoolTexts): DrawnColumn {
  const text = (cell: Cell) =>
    cell === true ? bools.yes : cell === false ? bools.no : bools.unknown;
  return {
    column,
    symbol: null,
    text,
    title: text,
    right: false,
    width: Math.max(76, headerWidth(column, null)),
  };
}

function textColumn(column: Column, first: boolean): DrawnColumn {
  const title = (cell: Cell) => (isMissing(cell) || cell === "" ? MISSING : String(cell));
  const { brief } = column;
  const text = brief ? (cell: Cell) => brief(title(cell)) : title;
  return { column, symbol: null, text, title, right: false, width: first ? 340 : 180 };
}

/** Pixels for the label in two lines, the sort arrow and the gaps. */
function headerWidth({ label }: Column, symbol: string | null): number {
  return Math.ceil(7.8 * twoLines(symbol ? `${label} ${symbol}` : label)) + 38;
}

/** Characters of the longer line when a text is split into two lines as evenly as its words allow. */
export function twoLines(text: string): number {
  const words = text.split(" ");
  const splits = words.map((_, at) =>
    Math.max(words.slice(0, at).join(" ").length, words.slice(at).join(" ").length),
  );
  return Math.min(...splits);
}
