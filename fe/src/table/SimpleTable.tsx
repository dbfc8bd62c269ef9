import { type CSSProperties, type ReactNode, useMemo } from "react";
import { tableTexts } from "../i18n";
import { Link } from "../ui";
import { type DrawnColumn, drawColumns, toneOf } from "./columns";
import { type ListColumn, ListTable } from "./ListTable";
import { allRows, cellOf, type Rows, type Table } from "./model";

interface Props {
  readonly caption: string;
  readonly table: Table;
  /** Draws the first cell of a row in place of its text. */
  readonly renderName?: (row: number, text: string) => ReactNode;
  /** Where the name of a row leads; null: nowhere. */
  readonly doorOf?: (row: number) => (() => void) | null;
}

/** For a handful of rows of a table: each column in one unit, as where tables are large. */
export function SimpleTable({ caption, table, renderName, doorOf }: Props) {
  const drawn = useMemo(() => drawColumns(table, tableTexts), [table]);
  const named = renderName ?? ((row, text) => <Named text={text} door={doorOf?.(row) ?? null} />);
  return (
    <ListTable
      caption={caption}
      columns={drawn.map((column, at) => listColumn(column, table.rows, at === 0 ? named : null))}
      rows={allRows(table)}
    />
  );
}

/** `name`: how the cells are drawn of the column that says what rows are of, which is a text, also where it is a number. */
function listColumn(
  { column, symbol, text, title, right }: DrawnColumn,
  rows: Rows,
  name: ((row: number, text: string) => ReactNode) | null,
): ListColumn<number> {
  const cell = (row: number) => cellOf(rows, column.key, row);
  const bar = column.bar && !name;
  return {
    label: (
      <>
        {column.label}
        {symbol && <span className="grid-unit"> {symbol}</span>}
      </>
    ),
    help: column.help,
    kind: right && !name ? "number" : "text",
    cell: (row) => (name ? name(row, text(cell(row))) : text(cell(row))),
    title: right || column.brief ? (row) => title(cell(row)) : undefined,
    className: (row) =>
      name || !right
        ? ""
        : `${bar && typeof cell(row) === "number" ? "share" : ""}${toneOf(column, cell(row))}`,
    style: (row) => (bar ? shareStyle(cell(row)) : undefined),
  };
}

function shareStyle(cell: unknown): CSSProperties | undefined {
  return typeof cell === "number"
    ? ({ "--share": `${Math.min(100, cell)}%` } as CSSProperties)
    : undefined;
}

function Named({ text, door }: { text: string; door: (() => void) | null }) {
  return door === null ? text : <Link onClick={door}>{text}</Link>;
}
