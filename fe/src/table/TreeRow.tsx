import { type CSSProperties, memo } from "react";
import { tableTexts } from "../i18n";
import type { DrawnColumn } from "./columns";
import { cellOf, type Rows } from "./model";

interface Props {
  readonly id: string;
  readonly index: number;
  readonly row: number;
  readonly rows: Rows;
  readonly columns: readonly DrawnColumn[];
  readonly level: number;
  /** Null: there is nothing below. */
  readonly open: boolean | null;
  readonly selected: boolean;
  readonly active: boolean;
  /** Is only there because of what is below it. */
  readonly faint: boolean;
}

/** Memoised, with no handlers of its own, as the row of a flat table. */
export const TreeRow = memo(function TreeRow(props: Props) {
  const { id, index, row, rows, columns, level, open, selected, active, faint } = props;
  return (
    <div
      id={id}
      role="row"
      aria-rowindex={index + 2}
      aria-level={level + 1}
      aria-expanded={open ?? undefined}
      aria-selected={selected}
      data-row={index}
      className={`grid-row${active ? " active" : ""}${faint ? " faint" : ""}`}
    >
      {columns.map(({ column, text, right }, position) => {
        const cell = cellOf(rows, column.key, row);
        const share = column.bar && typeof cell === "number" ? cell : null;
        return (
          <div
            key={column.key}
            role="gridcell"
            aria-colindex={position + 1}
            className={`grid-cell${right ? " number" : ""}${share === null ? "" : " share"}`}
            style={styleOf(position === 0 ? level : null, share)}
          >
            {position === 0 &&
              (open === null ? (
                <span className="tree-leaf" />
              ) : (
                <span
                  // The row itself says whether it is open.
                  aria-hidden="true"
                  className="grid-expander tree-expander"
                  data-open={open}
                  title={open ? tableTexts.tree.close : tableTexts.tree.open}
                />
              ))}
            {text(cell)}
          </div>
        );
      })}
    </div>
  );
});

const INDENT = 16;
/** Deeper rows are not moved further to the right: their names would have no room. */
const DEEPEST_INDENT = 20;

function styleOf(level: number | null, share: number | null): CSSProperties | undefined {
  if (level !== null) return { paddingInlineStart: 8 + Math.min(level, DEEPEST_INDENT) * INDENT };
  if (share === null) return undefined;
  return { "--share": `${Math.min(100, Math.max(0, share))}%` } as CSSProperties;
}
