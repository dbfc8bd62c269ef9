import {
  type FocusEvent,
  type MouseEvent,
  type PointerEvent,
  type TouchEvent,
  useCallback,
  useId,
  useState,
} from "react";
import { tableTexts } from "../i18n";
import type { DrawnColumn } from "./columns";
import { HeaderTip, type TipPlace } from "./HeaderTip";
import type { Sort } from "./sort";
import type { ColumnHeader, ColumnState } from "./useColumnState";

export const HEADER_HEIGHT = 44;

interface Props {
  readonly columns: ColumnState;
  readonly sorts: readonly Sort[];
  readonly onSort: (key: string, additive: boolean) => void;
}

export function Header({ columns, sorts, onSort }: Props) {
  return (
    <div role="rowgroup" className="grid-head" style={{ height: HEADER_HEIGHT }}>
      <div role="row" aria-rowindex={1} className="grid-row">
        {columns.headers.map((header, position) => {
          const drawn = columns.visible[position];
          return (
            drawn && (
              <HeaderCell
                key={header.id}
                header={header}
                drawn={drawn}
                position={position}
                onGrip={columns.grip}
                sorts={sorts}
                onSort={onSort}
              />
            )
          );
        })}
      </div>
    </div>
  );
}

interface CellProps extends Omit<Props, "columns"> {
  readonly header: ColumnHeader;
  readonly drawn: DrawnColumn;
  readonly position: number;
  readonly onGrip: ColumnState["grip"];
}

function HeaderCell({ header, drawn, position, onGrip, sorts, onSort }: CellProps) {
  const { column, symbol, right } = drawn;
  const tipId = useId();
  const labelId = useId();
  const [tip, setTip] = useState<TipPlace | null>(null);
  const hide = useCallback(() => setTip(null), []);

  const rank = sorts.findIndex(({ key }) => key === column.key);
  const sort = sorts[rank];
  const startResize = (event: MouseEvent | TouchEvent) => {
    const cells = [...(event.currentTarget.closest("[role=row]")?.children ?? [])];
    onGrip(cells.slice(0, position + 1).map((cell) => cell.getBoundingClientRect().width));
    header.getResizeHandler()(event);
  };
  return (
    <div
      role="columnheader"
      // The tip is inside, but not part of the name.
      aria-labelledby={labelId}
      aria-colindex={position + 1}
      aria-sort={sort ? (sort.descending ? "descending" : "ascending") : "none"}
      className={right ? "grid-cell number" : "grid-cell"}
      onPointerLeave={hide}
    >
      <button
        type="button"
        className="grid-sort"
        aria-describedby={tip ? tipId : undefined}
        onClick={(event) => onSort(column.key, event.shiftKey)}
        onKeyDown={(event) => {
          // Not every browser tells a click by Shift+Enter from one without Shift.
          if (!event.shiftKey || (event.key !== "Enter" && event.key !== " ")) return;
          event.preventDefault();
          onSort(column.key, true);
        }}
        onPointerEnter={(event: PointerEvent) => setTip(placeBelow(event.currentTarget, 400))}
        onFocus={(event: FocusEvent<HTMLElement>) => {
          if (event.currentTarget.matches(":focus-visible"))
            setTip(placeBelow(event.currentTarget, 0));
        }}
        onBlur={hide}
      >
        <span className="grid-label" id={labelId}>
          {column.label}
          {symbol && <span className="grid-unit"> {symbol}</span>}
        </span>
        <span className="grid-arrow" aria-hidden="true">
          {sort ? (sort.descending ? "▼" : "▲") : ""}
          {sort && sorts.length > 1 ? rank + 1 : ""}
        </span>
      </button>
      {tip && (
        <HeaderTip id={tipId} place={tip} onHide={hide}>
          <strong>{column.label}</strong>
          {column.help && <span>{column.help}</span>}
          <span className="muted">{tableTexts.sortHint}</span>
        </HeaderTip>
      )}
      {/* Only for the pointer: the chooser and the full text of a cell serve everybody else. */}
      <span
        aria-hidden="true"
        className="grid-resizer"
        onMouseDown={startResize}
        onTouchStart={startResize}
        onDoubleClick={() => header.column.resetSize()}
      />
    </div>
  );
}

function placeBelow(element: Element, delay: number): TipPlace {
  const { left, bottom } = element.getBoundingClientRect();
  return { left, top: bottom + 4, delay };
}
