import { original } from "../format";
import { type Cell, type Column, isMissing, type Rows } from "./model";

/** Values are written unrounded, in the API's units; the header line names the keys, which carry the unit. */
function plain(cell: Cell): string {
  if (isMissing(cell)) return "";
  if (typeof cell !== "string") return String(cell);
  const text = original(cell);
  // Spreadsheets run a cell that begins so as a formula, and names come from a file. A number is none.
  return /^[=+\-@\t\r\n＝＋－＠]/.test(text) && !/^-\d+(\.\d+)?$/.test(text) ? `'${text}` : text;
}

function quoted(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function lines(
  columns: readonly Column[],
  rows: Rows,
  order: readonly number[],
  write: (cells: string[]) => string,
): string {
  const head = write(columns.map(({ key }) => key));
  const body = order.map((row) => write(columns.map(({ key }) => plain(rows[key]?.[row]))));
  return [head, ...body].join("\n");
}

/** RFC 4180 with a header line. */
export function toCsv(columns: readonly Column[], rows: Rows, order: readonly number[]): string {
  return `${lines(columns, rows, order, (cells) => cells.map(quoted).join(","))}\n`;
}

/** For pasting into a spreadsheet; tabs and line ends inside a cell become spaces. */
export function toTsv(columns: readonly Column[], rows: Rows, order: readonly number[]): string {
  return lines(columns, rows, order, (cells) =>
    cells.map((cell) => cell.replace(/[\t\r\n]+/g, " ")).join("\t"),
  );
}

/** A list of objects, one for each row. */
export function toJson(columns: readonly Column[], rows: Rows, order: readonly number[]): string {
  const objects = order.map((row) =>
    Object.fromEntries(
      columns.map(({ key }) => {
        const cell = rows[key]?.[row];
        return [key, isMissing(cell) ? null : typeof cell === "string" ? original(cell) : cell];
      }),
    ),
  );
  return JSON.stringify(objects, null, 1);
}
