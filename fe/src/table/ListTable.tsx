/** A short table, without filter, sorting or virtual rows. */
import type { CSSProperties, ReactNode } from "react";
import { Each, Wide } from "../ui";
import "./listTable.css";

export interface ListColumn<R> {
  readonly label?: ReactNode;
  readonly help?: string | null | undefined;
  /** The first one is a text and the others are numbers, where it is not said. */
  readonly kind?: "text" | "number" | "bar";
  readonly cell: (row: R, at: number) => ReactNode;
  readonly title?: ((row: R) => string | undefined) | undefined;
  /** Of its cells. */
  readonly className?: string | ((row: R) => string);
  readonly style?: (row: R) => CSSProperties | undefined;
  /** Below the rows. */
  readonly foot?: ReactNode;
}

interface Props<R> {
  readonly caption?: ReactNode;
  /** Its name, where what stands around it says that already. */
  readonly label?: string;
  readonly columns: readonly ListColumn<R>[];
  /** Labels of columns that have none of their own, and what these mean. */
  readonly heads?: readonly string[];
  readonly help?: readonly string[];
  readonly rows: readonly R[];
  readonly isPicked?: (row: R) => boolean;
  /** What is opened below a row, if anything. */
  readonly below?: (row: R) => ReactNode;
  /** As wide as its place. */
  readonly wide?: boolean;
  readonly className?: string;
}

export function ListTable<R>(props: Props<R>) {
  const { caption, label, columns, rows, wide = false, className = "", isPicked, below } = props;
  const { heads = [], help = [] } = props;
  const foot = columns.some((column) => column.foot !== undefined);
  return (
    <Wide className={`simple-table ${wide ? "full" : ""} ${className}`.trim()}>
      <table aria-label={label}>
        {caption !== undefined && <caption>{caption}</caption>}
        <thead>
          <tr>
            {columns.map((column, at) => (
              <th
                key={heads[at] ?? at}
                scope="col"
                className={kindOf(column, at)}
                title={column.help ?? help[at]}
                aria-hidden={column.kind === "bar" || undefined}
              >
                {column.label ?? heads[at]}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          <Each of={rows}>
            {(row, at) => {
              const opened = below?.(row);
              return (
                <>
                  <tr className={isPicked?.(row) ? "is-picked" : undefined}>
                    {columns.map((column, place) => (
                      <ListCell
                        key={heads[place] ?? place}
                        column={column}
                        row={row}
                        at={at}
                        place={place}
                      />
                    ))}
                  </tr>
                  {opened && (
                    <tr>
                      <td className="below" colSpan={columns.length}>
                        {opened}
                      </td>
                    </tr>
                  )}
                </>
              );
            }}
          </Each>
        </tbody>
        {foot && (
          <tfoot>
            <tr>
              {columns.map((column, at) => (
                <td key={heads[at] ?? at} className={kindOf(column, at)}>
                  {column.foot}
                </td>
              ))}
            </tr>
          </tfoot>
        )}
      </table>
    </Wide>
  );
}

interface CellProps<R> {
  readonly column: ListColumn<R>;
  readonly row: R;
  readonly at: number;
  /** Of the column. */
  readonly place: number;
}

function ListCell<R>({ column, row, at, place }: CellProps<R>) {
  const { className = "", cell, title, style } = column;
  const own = typeof className === "string" ? className : className(row);
  const props = {
    className: `${kindOf(column, place)} ${own}`.trim() || undefined,
    title: title?.(row),
    style: style?.(row),
    "aria-hidden": column.kind === "bar" || undefined,
  };
  const content = cell(row, at);
  return place === 0 ? (
    <th scope="row" {...props}>
      {content}
    </th>
  ) : (
    <td {...props}>{content}</td>
  );
}

function kindOf({ kind }: ListColumn<never>, at: number): string {
  const known = kind ?? (at === 0 ? "text" : "number");
  return known === "text" ? "" : known === "bar" ? "cell-bar" : known;
}

interface BarProps {
  /** Parts of the width, 0 to 1. */
  readonly from: number;
  readonly to: number;
  readonly color: string;
}

/** Where the bar of the baseline is. */
export function Ghost({ from, to }: Omit<BarProps, "color">) {
  return (
    <i
      className="ghost"
      style={{ insetInlineStart: `${100 * from}%`, width: `${100 * (to - from)}%` }}
    />
  );
}

/** In a column of bars. */
export function Bar({ from, to, color }: BarProps) {
  return (
    <i
      style={{
        insetInlineStart: `${100 * from}%`,
        width: `${100 * (to - from)}%`,
        background: color,
      }}
    />
  );
}
