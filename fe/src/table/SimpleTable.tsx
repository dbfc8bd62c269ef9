import { type CSSProperties, type ReactNode, useMemo } from "react";
import { tableTexts } from "../i18n";
import { Link, Wide } from "../ui";
import { drawColumns, toneOf } from "./columns";
import { cellOf, rowCount, type Table } from "./model";
import "./table.css";

interface Props {
  readonly caption: string;
  readonly table: Table;
  /** Draws the first cell of a row in place of its text. */
  readonly renderName?: (row: number, text: string) => ReactNode;
  /** Where the name of a row leads; null: nowhere. */
  readonly doorOf?: (row: number) => (() => void) | null;
}

/** For a handful of rows: an ordinary table, without filter, sorting or virtual rows. */
export function SimpleTable({ caption, table, renderName, doorOf }: Props) {
  const drawn = useMemo(() => drawColumns(table, tableTexts), [table]);
  return (
    <Wide className="simple-table">
      <table>
        <caption>{caption}</caption>
        <thead>
          <tr>
            {drawn.map(({ column, symbol, right }, position) => (
              <th
                key={column.key}
                scope="col"
                className={right && position > 0 ? "number" : ""}
                title={column.help ?? undefined}
              >
                {column.label}
                {symbol && <span className="grid-unit"> {symbol}</span>}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {Array.from({ length: rowCount(table) }, (_, row) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the row number is the row
            <tr key={row}>
              {drawn.map(({ column, text, title, right }, position) => {
                const cell = cellOf(table.rows, column.key, row);
                const bar = column.bar && typeof cell === "number";
                return (
                  <td
                    key={column.key}
                    // What a row is of is its name, also where that is a number.
                    className={
                      right && position > 0
                        ? `number${bar ? " share" : ""}${toneOf(column, cell)}`
                        : ""
                    }
                    title={right || column.brief ? title(cell) : undefined}
                    style={
                      bar ? ({ "--share": `${Math.min(100, cell)}%` } as CSSProperties) : undefined
                    }
                  >
                    {position > 0 ? (
                      text(cell)
                    ) : renderName ? (
                      renderName(row, text(cell))
                    ) : (
                      <Named text={text(cell)} door={doorOf?.(row) ?? null} />
                    )}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </Wide>
  );
}

function Named({ text, door }: { text: string; door: (() => void) | null }) {
  return door === null ? text : <Link onClick={door}>{text}</Link>;
}
