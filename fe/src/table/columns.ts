import { columnFormat, exact, largestOf, MISSING, onOneLine, signed, value } from "../format";
import { columnWords } from "../i18n";
import { type Cell, type Column, isMissing, type Table, wordOf } from "./model";

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
  /** Pixels in which all of it is seen: its share of a wide table. */
  readonly room: number;
}

interface BoolTexts {
  readonly yes: string;
  readonly no: string;
  readonly unknown: string;
}

export function drawColumns(table: Table, bools: BoolTexts): DrawnColumn[] {
  const scales = sharedScales(table);
  return table.columns.map(inWords).map((column, index) => {
    const values = table.rows[column.key] ?? [];
    return column.type === "number"
      ? drawNumber(column, values, scales.get(familyOf(column)) ?? 0)
      : column.type === "bool"
        ? drawBool(column, bools)
        : drawText(column, values, index === 0);
  });
}

/** Label and definition in the language of the page: those of its id, which it has no more, so that others may follow. */
export function inWords<C extends Column>({ id, ...column }: C): Omit<C, "id"> {
  return { ...column, ...columnWords({ ...column, ...(id === undefined ? {} : { id }) }) };
}

/**
 * Per family of columns the value that its unit has to suit: what is compared across a row is shown in one unit.
 * It is the finest that a column of the family would have alone, unless the largest value had six digits in it.
 */
function sharedScales({ columns, rows }: Table): Map<string, number> {
  const families = new Map<string, number[]>();
  for (const column of columns) {
    const largest =
      column.type === "number" ? (column.largest ?? largestOf(rows[column.key] ?? [])) : 0;
    if (largest === 0) continue;
    const family = families.get(familyOf(column)) ?? [];
    families.set(familyOf(column), [...family, largest]);
  }
  return new Map(
    [...families].map(([family, largest]) => [
      family,
      Math.max(Math.min(...largest), Math.max(...largest) / 100),
    ]),
  );
}

/** Keys that differ in nothing but self and total, in mean, max, min and median, or in the side of a comparison, are of one family. */
function familyOf({ key, unit, family }: Column): string {
  if (family !== undefined) return family;
  const words = key
    .replace(/^(base|exp|delta)_/, "")
    .split("_")
    .map((word) => (SUMS.has(word) ? "sum" : CALLS.has(word) ? "call" : word));
  return [unit, ...words].join(" ");
}

/** The class of a cell that says whether a cost has grown. */
export function toneOf(
  { change }: Column,
  cell: Cell,
  isNoise = false,
): "" | " worse" | " better" | " noise" {
  if (change !== "cost" || typeof cell !== "number") return "";
  if (isNoise) return " noise";
  return cell > 0 ? " worse" : cell < 0 ? " better" : "";
}

/** Pixels. */
const ARROW = 20;
/** The least for one that takes what is left over: there is most often more. */
const GROWING = 150;
/** For a bar behind a number, where there is room. */
const BAR = 160;
/** Of kernels: short as they are, they differ at their ends. */
const NAME = 330;
/** The most for a text. */
const TEXT = 900;
/** More than there are powers of ten in numbers. */
const POWERS = 400;
const ALL_DIGITS = 8.888_888_888;
const SUMS = new Set(["self", "total"]);
const CALLS = new Set(["mean", "avg", "average", "median", "max", "min"]);

function drawNumber(column: Column, values: readonly Cell[], scale: number): DrawnColumn {
  const { symbol: unit, text } = column.ownUnits
    ? { symbol: null, text: (number: number | null) => value(number, column.unit) }
    : columnFormat(column.unit, values, Math.min(scale, column.atMost ?? scale));
  // "% device self" says its unit already.
  const symbol = unit === "%" && column.label.includes("%") ? null : unit;
  const numberOf = (cell: Cell) => (typeof cell === "number" ? cell : null);
  const cellText = (write: (number: number | null) => string) =>
    column.change
      ? (cell: Cell) => signed(numberOf(cell), write)
      : (cell: Cell) => write(numberOf(cell));
  const shown = cellText(text);
  // A number that is cut is another number.
  const width = Math.max(80, headerWidth(column, symbol), textWidth(longestOf(values).map(shown)));
  return {
    column,
    symbol,
    text: shown,
    title: cellText((number) => exact(number, column.unit)),
    right: true,
    width,
    room: column.bar ? Math.max(BAR, width) : width,
  };
}

/**
 * A number of each sign and power of ten that is there, with all digits, as none is longer to write: each power may have
 * its own unit, and zeros at the end of a number may not be written.
 */
function longestOf(values: readonly Cell[]): number[] {
  const whole = new Map<number, boolean>();
  for (const cell of values) {
    if (typeof cell !== "number" || cell === 0 || !Number.isFinite(cell)) continue;
    const power = Math.floor(Math.log10(Math.abs(cell)));
    const key = cell < 0 ? -power - POWERS : power + POWERS;
    if (whole.get(key) !== false) whole.set(key, Number.isInteger(cell));
  }
  return [...whole].map(([key, isWhole]) => {
    const number = Math.sign(key) * ALL_DIGITS * 10 ** (Math.abs(key) - POWERS);
    return isWhole ? Math.round(number) : number;
  });
}

function drawBool(column: Column, bools: BoolTexts): DrawnColumn {
  const text = (cell: Cell) =>
    cell === true ? bools.yes : cell === false ? bools.no : bools.unknown;
  const width = Math.max(76, headerWidth(column, null));
  return {
    column,
    symbol: null,
    text,
    title: text,
    right: false,
    width,
    room: width,
  };
}

function drawText(column: Column, values: readonly Cell[], first: boolean): DrawnColumn {
  const { brief, words } = column;
  const said = (cell: Cell) => wordOf(words, String(cell)) ?? cell;
  const title = (cell: Cell) =>
    isMissing(cell) || cell === "" ? MISSING : onOneLine(String(said(cell)));
  const text = brief ? (cell: Cell) => brief(title(cell)) : title;
  // The first one also takes what the others leave, and has an arrow before its text in some tables.
  const needed = Math.max(textWidth(values.map(said)), headerWidth(column, null));
  const width = first
    ? Math.min(brief ? NAME : 230, Math.max(100, needed + ARROW))
    : Math.min(column.grow ? GROWING : 200, needed);
  const room = Math.min(TEXT, Math.max(width, first ? needed + ARROW : needed));
  return { column, symbol: null, text, title, right: false, width, room };
}

/** Pixels for the longest of some texts. */
function textWidth(values: readonly Cell[]): number {
  let longest = 0;
  for (const cell of values)
    if (typeof cell === "string") longest = Math.max(longest, measure(cell));
  return Math.ceil(7.4 * longest) + 24;
}

/** Pixels for the label in two lines, the sort arrow and the gaps. */
function headerWidth({ label }: Column, symbol: string | null): number {
  return Math.ceil(7.8 * twoLines(symbol ? `${label} ${symbol}` : label)) + 38;
}

/** Characters of the longer line when a text is split into two lines as evenly as its words allow. */
export function twoLines(text: string): number {
  const splits = Array.from(text, (_, at) => at).filter(
    (at) => text[at] === " " || mayBreak(text, at),
  );
  return Math.min(
    ...[0, ...splits].map((at) =>
      Math.max(measure(text.slice(0, at).trimEnd()), measure(text.slice(at).trimStart())),
    ),
  );
}

const CLOSING = /[\s%，。：；）”]/;
const WIDE = /[\u2e80-\u9fff\uf900-\ufaff\uff00-\uff60]/;
const WIDE_CHARACTERS = /[\u2e80-\u9fff\uf900-\ufaff\uff00-\uff60]/g;
const CAPITALS = /[A-Z]/g;
const LEAST = 3;
const OPENING = /[（“]/;

/** Chinese has no spaces and may be broken between any two characters; we do so where neither line is a mere rest. */
function mayBreak(text: string, at: number): boolean {
  const [before = "", after = ""] = [text[at - 1], text[at]];
  return (
    Math.min(at, text.length - at) >= LEAST &&
    WIDE.test(before + after) &&
    !OPENING.test(before) &&
    !CLOSING.test(after)
  );
}

/** A text in small characters of Latin, of which Chinese ones take nearly two. */
function measure(text: string): number {
  const wide = text.match(WIDE_CHARACTERS)?.length ?? 0;
  const capital = text.match(CAPITALS)?.length ?? 0;
  return text.length + 0.75 * wide + 0.2 * capital;
}
