// biome-ignore-all lint/a11y/useSemanticElements: virtual rows are positioned boxes, which table elements cannot be
// biome-ignore-all lint/a11y/useFocusableInteractive: the grid has the focus and points at the active row
import { useVirtualizer } from "@tanstack/react-virtual";
import {
  type CSSProperties,
  type KeyboardEvent,
  type MouseEvent,
  type PointerEvent,
  type ReactNode,
  useEffect,
  useId,
  useRef,
  useState,
} from "react";
import { t } from "../i18n";
import { GridRow } from "./GridRow";
import { HEADER_HEIGHT, Header } from "./Header";
import { cellOf, type Rows, textAt } from "./model";
import type { Sort } from "./sort";
import type { ColumnState } from "./useColumnState";

export const ROW_HEIGHT = 28;
const PAGE = 15;
const OVERSCAN = 6;

export interface GridProps {
  readonly label: string;
  readonly rows: Rows;
  readonly order: readonly number[];
  readonly columns: ColumnState;
  readonly sorts: readonly Sort[];
  readonly onSort: (key: string, additive: boolean) => void;
  /** Rows with this text in the column `nameKey` are marked as selected. */
  readonly nameKey: string;
  readonly selected: string | null;
  readonly onSelect: ((row: number) => void) | undefined;
  readonly renderExpanded: ((row: number) => ReactNode) | undefined;
  readonly onCopyRow: (row: number) => void;
}

/** The virtual ARIA grid. The grid itself has the focus; `active` is the row the keys act on. */
export function Grid(props: GridProps) {
  const { label, rows, order, columns, nameKey, selected, onSelect, renderExpanded } = props;
  const id = useId();
  const scroller = useRef<HTMLDivElement>(null);
  const [active, setActive] = useState<number | null>(null);
  const [expanded, setExpanded] = useState<ReadonlySet<number>>(new Set());

  const virtual = useVirtualizer({
    count: order.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT,
    getItemKey: (index) => order[index] ?? index,
    overscan: OVERSCAN,
    scrollMargin: HEADER_HEIGHT,
    scrollPaddingStart: HEADER_HEIGHT,
    // React 19 schedules scroll updates well by itself.
    useFlushSync: false,
  });

  // Details are as wide as what is visible of their row. Written past React: rows need not be drawn again.
  useEffect(() => {
    const element = scroller.current;
    if (!element) return;
    const measure = () => element.style.setProperty("--shown-width", `${element.clientWidth}px`);
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    measure();
    return () => observer.disconnect();
  }, []);

  // Selected somewhere else (a bar, another view): bring the row into sight.
  const scrolledTo = useRef<string | null>(null);
  useEffect(() => {
    if (selected === scrolledTo.current) return;
    scrolledTo.current = selected;
    const index =
      selected === null ? -1 : order.findIndex((row) => textAt(rows, nameKey, row) === selected);
    if (index < 0) return;
    setActive(index);
    virtual.scrollToIndex(index, { align: "auto" });
  }, [selected, order, rows, nameKey, virtual]);

  const toggle = (index: number, open?: boolean) => {
    const row = order[index];
    if (row === undefined || !renderExpanded) return;
    const next = new Set(expanded);
    if (open ?? !next.has(row)) {
      next.add(row);
    } else {
      next.delete(row);
      // An open row is measured; a closed one is not, so its old height must be taken back by hand.
      virtual.resizeItem(index, ROW_HEIGHT);
    }
    setExpanded(next);
  };

  const select = (index: number) => {
    const row = order[index];
    if (row === undefined) return;
    scrolledTo.current = textAt(rows, nameKey, row);
    onSelect?.(row);
  };

  const onClick = (event: MouseEvent) => {
    const target = event.target as Element;
    const index = Number(target.closest<HTMLElement>("[data-row]")?.dataset.row ?? Number.NaN);
    if (Number.isNaN(index)) return;
    setActive(index);
    if (target.closest(".grid-expander")) toggle(index);
    else select(index);
  };

  // The exact value is written when it is asked for: with every row, it would double the cost of scrolling.
  const onPointerOver = (event: PointerEvent) => {
    const cell = (event.target as Element).closest<HTMLElement>("[data-row] > [aria-colindex]");
    if (!cell || cell.title) return;
    const drawn = columns.visible[Number(cell.getAttribute("aria-colindex")) - 1];
    const row = order[Number(cell.parentElement?.dataset.row)];
    if (drawn && row !== undefined) cell.title = drawn.title(cellOf(rows, drawn.column.key, row));
  };

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target !== event.currentTarget) return;
    const last = order.length - 1;
    const at = active ?? -1;
    const go = (index: number) => {
      const next = Math.max(0, Math.min(last, index));
      setActive(next);
      virtual.scrollToIndex(next, { align: "auto" });
    };
    switch (event.key) {
      case "ArrowDown":
        go(at + 1);
        break;
      case "ArrowUp":
        go(at - 1);
        break;
      case "PageDown":
        go(at + PAGE);
        break;
      case "PageUp":
        go(at - PAGE);
        break;
      case "Home":
        go(0);
        break;
      case "End":
        go(last);
        break;
      case "ArrowRight":
        toggle(at, true);
        break;
      case "ArrowLeft":
        toggle(at, false);
        break;
      case "Enter":
      case " ":
        if (isSelected(at)) toggle(at);
        else select(at);
        break;
      case "c": {
        const row = order[at];
        // Text the user has marked is copied by the browser.
        if (!(event.ctrlKey || event.metaKey) || row === undefined || getSelection()?.toString())
          return;
        props.onCopyRow(row);
        break;
      }
      default:
        return;
    }
    event.preventDefault();
  };

  const isSelected = (index: number) => {
    const row = order[index];
    return selected !== null && row !== undefined && textAt(rows, nameKey, row) === selected;
  };

  const rowId = (index: number) => `${id}row${index}`;
  const items = virtual.getVirtualItems();
  const activeShown = active !== null && items.some((item) => item.index === active);
  const style = {
    "--columns": columns.template,
    "--grid-width": `${columns.width}px`,
  } as CSSProperties;

  return (
    <div
      ref={scroller}
      className="data-grid"
      role="grid"
      aria-label={label}
      aria-description={t.table.keysHint}
      aria-rowcount={order.length + 1}
      aria-colcount={columns.visible.length}
      aria-activedescendant={activeShown ? rowId(active) : undefined}
      tabIndex={0}
      style={style}
      onClick={onClick}
      onPointerOver={onPointerOver}
      onKeyDown={onKeyDown}
      onFocus={(event) => {
        if (event.target === event.currentTarget && active === null && order.length > 0)
          setActive(0);
      }}
    >
      <Header columns={columns} sorts={props.sorts} onSort={props.onSort} />
      <div role="rowgroup" className="grid-body" style={{ height: virtual.getTotalSize() }}>
        {items.map(({ index, start }) => {
          const row = order[index] ?? 0;
          const open = expanded.has(row);
          return (
            <div
              key={row}
              role="presentation"
              className="grid-item"
              data-index={index}
              ref={open ? virtual.measureElement : undefined}
              style={{ transform: `translateY(${start - HEADER_HEIGHT}px)` }}
            >
              <GridRow
                id={rowId(index)}
                index={index}
                row={row}
                rows={rows}
                columns={columns.visible}
                selected={isSelected(index)}
                active={index === active}
                expandable={renderExpanded !== undefined}
                expanded={open}
              />
              {open && (
                <div role="row" className="grid-detail">
                  <div role="gridcell" aria-colindex={1} aria-colspan={columns.visible.length}>
                    {renderExpanded?.(row)}
                  </div>
                </div>
              )}
            </div>
          );
        })}
      </div>
    </div>
  );
}
