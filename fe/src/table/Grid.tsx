import {
  type KeyboardEvent,
  type MouseEvent,
  type PointerEvent,
  type ReactNode,
  type RefObject,
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
  ROW_HEIGHT,
  rowAround,
  showRow,
  useVirtualRows,
  type VirtualRows,
} from "./GridFrame";
import { GridRow } from "./GridRow";
import { cellOf, type Rows, textAt } from "./model";
import { moveTo } from "./moves";
import type { RowSource } from "./rows";
import type { Sort } from "./sort";
import type { ColumnState } from "./useColumnState";

const OVERSCAN = 4;

interface GridProps {
  readonly label: string;
  readonly source: RowSource;
  /** Other rows are on their way. */
  readonly busy: boolean;
  /** Is told which rows are drawn. */
  readonly onRange: ((first: number, last: number) => void) | undefined;
  readonly columns: ColumnState;
  readonly sorts: readonly Sort[];
  readonly onSort: (key: string, additive: boolean) => void;
  /** Rows with this text in the column `nameKey` are marked as selected. */
  readonly nameKey: string;
  readonly selected: string | null;
  readonly onSelect: ((row: number, rows: Rows) => void) | undefined;
  readonly renderExpanded: ((row: number, rows: Rows) => ReactNode) | undefined;
  readonly onCopyRow: (row: number, rows: Rows) => void;
}

/** At least as many as rows can be drawn at a time, seldom more. */
function slotsFor(height: number): number {
  return 8 * Math.ceil((Math.ceil(height / ROW_HEIGHT) + 2 * OVERSCAN + 2) / 8);
}

/** The virtual ARIA grid. The grid itself has the focus; `active` is the row the keys act on. */
export function Grid(props: GridProps) {
  const { label, source, columns, nameKey, selected, onSelect, onRange } = props;
  const id = useId();
  const scroller = useRef<HTMLDivElement>(null);
  const [active, setActive] = useState<number | null>(null);
  const virtual = useVirtualRows(scroller, source.length, source.keyAt, OVERSCAN);
  const slots = useSlots(scroller);
  const { expanded, toggle } = useExpanded(props, virtual);

  // Selected somewhere else (a bar, another view): bring the row into sight.
  const scrolledTo = useRef<string | null>(null);
  useEffect(() => {
    if (selected === scrolledTo.current) return;
    scrolledTo.current = selected;
    const index = selected === null ? -1 : source.indexOf(nameKey, selected);
    if (selected === null || index < 0) return;
    setActive(index);
    showRow(scroller, virtual, index, selected);
  }, [selected, source, nameKey, virtual]);

  const select = (index: number) => {
    const place = source.at(index);
    if (!place) return;
    scrolledTo.current = textAt(place.rows, nameKey, place.row);
    onSelect?.(place.row, place.rows);
  };

  const onClick = (event: MouseEvent) => {
    const target = event.target as Element;
    const index = rowAround(target);
    if (Number.isNaN(index)) return;
    setActive(index);
    if (target.closest(".grid-expander")) toggle(index);
    else select(index);
  };

  // The exact value is written when it is asked for: with every row, it would double the cost of scrolling.
  const onPointerMove = (event: PointerEvent) => {
    const at = cellAt(event, columns);
    if (!at) return;
    const { cell, drawn } = at;
    const place = source.at(at.index);
    const title = drawn && place && drawn.title(cellOf(place.rows, drawn.column.key, place.row));
    // The cell may have shown another row before.
    if (cell.title !== (title ?? "")) cell.title = title ?? "";
  };

  const isSelected = (index: number) => {
    const place = selected === null ? null : source.at(index);
    return place !== null && textAt(place.rows, nameKey, place.row) === selected;
  };

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target !== event.currentTarget) return;
    const at = active ?? -1;
    const next = moveTo(event.key, at, source.length);
    const place = source.at(at);
    if (next !== null) {
      setActive(next);
      virtual.scrollToIndex(next, { align: "auto" });
    } else if (event.key === "ArrowRight" || event.key === "ArrowLeft") {
      toggle(at, event.key === "ArrowRight");
    } else if (event.key === "Enter" || event.key === " ") {
      if (isSelected(at)) toggle(at);
      else select(at);
    } else if (place && isCopy(event)) {
      props.onCopyRow(place.row, place.rows);
    } else return;
    event.preventDefault();
  };

  const rowId = (index: number) => `${id}row${index}`;
  const items = virtual.getVirtualItems();
  const first = items[0]?.index ?? 0;
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => onRange?.(first, last), [onRange, first, last]);

  return (
    <GridFrame
      role="grid"
      label={label}
      hint={tableTexts.keysHint}
      busy={props.busy}
      scroller={scroller}
      virtual={virtual}
      count={source.length}
      columns={columns}
      sorts={props.sorts}
      onSort={props.onSort}
      active={active ?? -1}
      onEnter={() => setActive(0)}
      rowId={rowId}
      onClick={onClick}
      onPointerMove={onPointerMove}
      onKeyDown={onKeyDown}
    >
      {items.map(({ index, start, key }) => {
        const open = source.at(index) !== null && expanded.has(key as string | number);
        return (
          <div
            // Elements are used again for rows that come into sight; that is half the work of making them.
            key={open ? `open ${key}` : index % slots}
            role="presentation"
            className="grid-item"
            data-index={index}
            ref={open ? virtual.measureElement : undefined}
            style={itemStyle(start)}
          >
            <Item
              {...props}
              id={rowId(index)}
              index={index}
              isSelected={isSelected(index)}
              isActive={index === active}
              isOpen={open}
            />
          </div>
        );
      })}
    </GridFrame>
  );
}

interface ItemProps extends Pick<GridProps, "source" | "columns" | "renderExpanded"> {
  readonly id: string;
  readonly index: number;
  readonly isSelected: boolean;
  readonly isActive: boolean;
  readonly isOpen: boolean;
}

/** A row, and what is below it where it is open. */
function Item({ source, columns, renderExpanded, id, index, ...is }: ItemProps) {
  const place = source.at(index);
  return (
    <>
      <GridRow
        id={id}
        index={index}
        row={place?.row ?? 0}
        rows={place?.rows ?? null}
        columns={columns.visible}
        selected={is.isSelected}
        active={is.isActive}
        expandable={renderExpanded !== undefined}
        expanded={is.isOpen}
      />
      {is.isOpen && place && (
        <div role="row" className="grid-detail">
          <div role="gridcell" aria-colindex={1} aria-colspan={columns.visible.length}>
            {renderExpanded?.(place.row, place.rows)}
          </div>
        </div>
      )}
    </>
  );
}

/** How many elements rows take turns in. Details are as wide as what is visible of their row. */
function useSlots(scroller: RefObject<HTMLDivElement | null>): number {
  const [slots, setSlots] = useState(slotsFor(0));
  useEffect(() => {
    const element = scroller.current;
    if (!element) return;
    const measure = () => {
      // Written past React: rows need not be drawn again.
      element.style.setProperty("--shown-width", `${element.clientWidth}px`);
      setSlots(slotsFor(element.clientHeight));
    };
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    measure();
    return () => observer.disconnect();
  }, [scroller]);
  return slots;
}

/** Which rows are open, by their keys. */
function useExpanded({ source, renderExpanded }: GridProps, virtual: VirtualRows) {
  const [expanded, setExpanded] = useState<ReadonlySet<string | number>>(new Set());
  const toggle = (index: number, open?: boolean) => {
    if (!source.at(index) || !renderExpanded) return;
    const key = source.keyAt(index);
    const next = new Set(expanded);
    if (open ?? !next.has(key)) {
      next.add(key);
    } else {
      next.delete(key);
      // An open row is measured; a closed one is not, so its old height must be taken back by hand.
      virtual.resizeItem(index, ROW_HEIGHT);
    }
    setExpanded(next);
  };
  return { expanded, toggle };
}
