import {
  type KeyboardEvent,
  type MouseEvent,
  type PointerEvent,
  useEffect,
  useId,
  useRef,
  useState,
} from "react";
import { tableTexts } from "../i18n";
import {
  cellAt,
  GridFrame,
  isCopy,
  itemStyle,
  rowAround,
  showRow,
  useVirtualRows,
} from "./GridFrame";
import { cellOf, type Rows } from "./model";
import { moveTo } from "./moves";
import type { Sort } from "./sort";
import { TreeRow } from "./TreeRow";
import type { ColumnState } from "./useColumnState";

const OVERSCAN = 6;

interface TreeGridProps {
  readonly label: string;
  readonly rows: Rows;
  /** The rows that can be seen, from the top down. */
  readonly visible: readonly number[];
  readonly level: Int32Array;
  readonly parent: ArrayLike<number>;
  readonly isOpen: (row: number) => boolean;
  readonly isParent: (row: number) => boolean;
  readonly onToggle: (row: number) => void;
  /** Null: all; else only rows with a 1 are what was looked for. */
  readonly hits: Uint8Array | null;
  readonly columns: ColumnState;
  readonly sorts: readonly Sort[];
  readonly onSort: (key: string, additive: boolean) => void;
  /** A row, -1 for none. */
  readonly selected: number;
  readonly onSelect: (row: number) => void;
  readonly onCopyRow: (row: number) => void;
}

/** The virtual ARIA treegrid. The grid itself has the focus; `active` is the row that the keys act on. */
export function TreeGrid(props: TreeGridProps) {
  const { label, rows, visible, level, parent, isOpen, isParent, onToggle, hits } = props;
  const { columns, selected, onSelect } = props;
  const id = useId();
  const scroller = useRef<HTMLDivElement>(null);
  const [activeRow, setActiveRow] = useState<number | null>(null);

  const keyAt = (index: number) => visible[index] ?? index;
  const virtual = useVirtualRows(scroller, visible.length, keyAt, OVERSCAN);

  // Selected somewhere else: bring the row into sight, once it can be seen.
  const scrolledTo = useRef(-1);
  useEffect(() => {
    if (selected === scrolledTo.current) return;
    const index = visible.indexOf(selected);
    if (selected >= 0 && index < 0) return;
    scrolledTo.current = selected;
    if (selected < 0) return;
    setActiveRow(selected);
    showRow(scroller, virtual, index, null);
  }, [selected, visible, virtual]);

  const active = activeRow === null ? -1 : visible.indexOf(activeRow);
  const go = (index: number) => {
    const next = Math.max(0, Math.min(visible.length - 1, index));
    setActiveRow(visible[next] ?? null);
    virtual.scrollToIndex(next, { align: "auto" });
  };
  const select = (row: number) => {
    scrolledTo.current = row;
    onSelect(row);
  };

  const onClick = (event: MouseEvent) => {
    const target = event.target as Element;
    const row = visible[rowAround(target)];
    if (row === undefined) return;
    setActiveRow(row);
    if (target.closest(".tree-expander")) onToggle(row);
    else select(row);
  };

  const onDoubleClick = (event: MouseEvent) => {
    const target = event.target as Element;
    const row = visible[rowAround(target)];
    if (row !== undefined && isParent(row) && !target.closest(".tree-expander")) onToggle(row);
  };

  // As in Grid.tsx: the exact value is written when it is asked for.
  const onPointerOver = (event: PointerEvent) => {
    const at = cellAt(event, columns);
    if (!at || at.cell.title) return;
    const { cell, drawn } = at;
    const row = visible[at.index];
    if (drawn && row !== undefined) cell.title = drawn.title(cellOf(rows, drawn.column.key, row));
  };

  /** Opens a row, or goes into an open one. */
  const deeper = (row = -1) => {
    if (row < 0 || !isParent(row)) return;
    if (isOpen(row)) go(active + 1);
    else onToggle(row);
  };
  /** Closes an open row, or goes to the one around it. */
  const outwards = (row = -1) => {
    if (row < 0) return;
    if (isParent(row) && isOpen(row)) onToggle(row);
    else if ((parent[row] ?? -1) >= 0) go(visible.indexOf(parent[row] ?? -1));
  };

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target !== event.currentTarget) return;
    const row = visible[active];
    const next = moveTo(event.key, active, visible.length);
    if (next !== null) go(next);
    else if (event.key === "ArrowRight") deeper(row);
    else if (event.key === "ArrowLeft") outwards(row);
    else if (event.key === "Enter" || event.key === " ") {
      if (row !== undefined) select(row);
    } else if (row !== undefined && isCopy(event)) props.onCopyRow(row);
    else return;
    event.preventDefault();
  };

  const rowId = (index: number) => `${id}row${index}`;
  return (
    <GridFrame
      role="treegrid"
      label={label}
      hint={tableTexts.tree.keysHint}
      scroller={scroller}
      virtual={virtual}
      count={visible.length}
      columns={columns}
      sorts={props.sorts}
      onSort={props.onSort}
      active={active}
      onEnter={() => setActiveRow(visible[0] ?? null)}
      rowId={rowId}
      onClick={onClick}
      onDoubleClick={onDoubleClick}
      onPointerOver={onPointerOver}
      onKeyDown={onKeyDown}
    >
      {virtual.getVirtualItems().map(({ index, start }) => {
        const row = visible[index] ?? 0;
        return (
          <div key={row} role="presentation" className="grid-item" style={itemStyle(start)}>
            <TreeRow
              id={rowId(index)}
              index={index}
              row={row}
              rows={rows}
              columns={columns.visible}
              level={level[row] ?? 0}
              open={isParent(row) ? isOpen(row) : null}
              selected={row === selected}
              active={index === active}
              faint={hits !== null && !hits[row]}
            />
          </div>
        );
      })}
    </GridFrame>
  );
}
