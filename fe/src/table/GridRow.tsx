import { type CSSProperties, memo } from "react";
import { tableTexts } from "../i18n";
import { type DrawnColumn, toneOf } from "./columns";
import { type Column, cellOf, isMissing, type Rows } from "./model";

interface Props {
  readonly id: string;
  readonly index: number;
  readonly row: number;
  /** Null while they are on their way. */
  readonly rows: Rows | null;
  readonly columns: readonly DrawnColumn[];
  readonly selected: boolean;
  readonly active: boolean;
  readonly expandable: boolean;
  readonly expanded: boolean;
}

/** Memoised, with no handlers of its own: scrolling only draws the rows that come in. */
export const GridRow = memo(function GridRow(props: Props) {
  const { id, index, row, rows, columns, selected, active, expandable, expanded } = props;
  if (rows === null) return <WaitingRow {...props} />;
  return (
    <div
      id={id}
      role="row"
      aria-rowindex={index + 2}
      aria-selected={selected}
      data-row={index}
      className={active ? "grid-row active" : "grid-row"}
    >
      {columns.map(({ column, text, right }, position) => {
        const cell = cellOf(rows, column.key, row);
        const bar = column.bar && typeof cell === "number";
        return (
          <div
            key={column.key}
            role="gridcell"
            aria-colindex={position + 1}
            title={isMissing(cell) ? column.missing : undefined}
            className={
              right
                ? `grid-cell number${bar ? " share" : ""}${toneOf(column, cell, isNoise(column, rows, row))}`
                : "grid-cell"
            }
            style={
              bar
                ? ({ "--share": `${Math.min(100, Math.max(0, cell))}%` } as CSSProperties)
                : undefined
            }
          >
            {position === 0 && expandable && (
              <button
                type="button"
                tabIndex={-1}
                className="grid-expander"
                aria-expanded={expanded}
                aria-label={expanded ? tableTexts.collapse : tableTexts.expand}
              />
            )}
            {withTail(text(cell), column.tail)}
          </div>
        );
      })}
    </div>
  );
});

/** What stands before a tail is cut where there is little room, and the tail is not. */
function withTail(text: string, tail: string | undefined) {
  if (tail === undefined || !text.endsWith(tail)) return text;
  return (
    <span className="grid-tailed">
      <span>{text.slice(0, -tail.length)}</span>
      <span>{tail}</span>
    </span>
  );
}

/** The place of a row that is not here yet. */
function WaitingRow({ id, index, columns, active }: Props) {
  return (
    <div
      id={id}
      role="row"
      aria-rowindex={index + 2}
      data-row={index}
      className={active ? "grid-row waiting active" : "grid-row waiting"}
    >
      {columns.map(({ column }, position) => (
        <div key={column.key} role="gridcell" aria-colindex={position + 1} className="grid-cell">
          {position === 0 && <span className="visually-hidden">{tableTexts.rowLoading}</span>}
        </div>
      ))}
    </div>
  );
}

function isNoise({ noise }: Column, rows: Rows, row: number): boolean {
  return noise !== undefined && cellOf(rows, noise, row) === true;
}
