/**
 * The frame of a grid. Virtual rows are positioned boxes, which elements of tables cannot be, and the grid has the focus
 * and points at the active row: `biome.json` spares these files the rules that ask for such elements.
 */
import { useVirtualizer, type Virtualizer } from "@tanstack/react-virtual";
import type {
  CSSProperties,
  DOMAttributes,
  KeyboardEvent,
  PointerEvent,
  ReactNode,
  RefObject,
} from "react";
import { bringIntoSight } from "../host";
import { Edges } from "../ui";
import type { DrawnColumn } from "./columns";
import { HEADER_HEIGHT, Header } from "./Header";
import type { Sort } from "./sort";
import type { ColumnState } from "./useColumnState";

export const ROW_HEIGHT = 28;

type Scroller = RefObject<HTMLDivElement | null>;
export type VirtualRows = Virtualizer<HTMLDivElement, Element>;

/** Which of `count` rows are drawn; `keyAt`: what a row is known by, wherever it stands. */
export function useVirtualRows(
  scroller: Scroller,
  count: number,
  keyAt: (index: number) => string | number,
  overscan: number,
): VirtualRows {
  return useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT,
    getItemKey: keyAt,
    overscan,
    scrollMargin: HEADER_HEIGHT,
    scrollPaddingStart: HEADER_HEIGHT,
    // React 19 schedules scroll updates well by itself.
    useFlushSync: false,
  });
}

/** Scrolls the grid to a row, and the page, too, where the user went to it. */
export function showRow(
  scroller: Scroller,
  virtual: VirtualRows,
  index: number,
  name: string | null,
): void {
  virtual.scrollToIndex(index, { align: "auto" });
  const grid = scroller.current;
  if (!grid) return;
  const row = () => grid.querySelector(`[data-row="${index}"]`) ?? grid;
  bringIntoSight(name, row, grid.closest(".view") ?? grid);
}

/** Whether a row is to be copied. Text that is marked is copied by the browser. */
export function isCopy({ key, ctrlKey, metaKey }: KeyboardEvent): boolean {
  return key === "c" && (ctrlKey || metaKey) && !getSelection()?.toString();
}

/** The place of the row around an element, as rows have it in `data-row`; NaN outside of rows. */
export function rowAround(element: Element | null): number {
  return Number(element?.closest<HTMLElement>("[data-row]")?.dataset.row ?? Number.NaN);
}

/** The cell that the pointer is at. */
export function cellAt(
  { target }: PointerEvent,
  columns: ColumnState,
): { cell: HTMLElement; index: number; drawn: DrawnColumn | undefined } | null {
  const cell = (target as Element).closest<HTMLElement>("[data-row] > [aria-colindex]");
  if (!cell) return null;
  const drawn = columns.visible[Number(cell.getAttribute("aria-colindex")) - 1];
  return { cell, index: rowAround(cell), drawn };
}

/** Where a drawn row stands. */
export function itemStyle(start: number): CSSProperties {
  return { transform: `translateY(${start - HEADER_HEIGHT}px)` };
}

type Handlers = Pick<
  DOMAttributes<HTMLDivElement>,
  "onClick" | "onDoubleClick" | "onPointerMove" | "onPointerOver" | "onKeyDown"
>;

interface Props extends Handlers {
  readonly role: "grid" | "treegrid";
  readonly label: string;
  /** How the keys work. */
  readonly hint: string;
  readonly busy?: boolean;
  readonly scroller: Scroller;
  readonly virtual: VirtualRows;
  /** Of all rows, drawn or not. */
  readonly count: number;
  readonly columns: ColumnState;
  readonly sorts: readonly Sort[];
  readonly onSort: (key: string, additive: boolean) => void;
  /** The row that the keys act on, -1 for none. */
  readonly active: number;
  /** The grid got the focus while no row was active. */
  readonly onEnter: () => void;
  readonly rowId: (index: number) => string;
  /** The drawn rows. */
  readonly children: ReactNode;
}

/** The scrolling box with the head of the columns: what every virtual grid is but for its rows. It has the focus itself. */
export function GridFrame(props: Props) {
  const { role, label, hint, busy, scroller, virtual, count, columns, sorts, onSort } = props;
  const { active, onEnter, rowId, children } = props;
  const shown = virtual.getVirtualItems().some(({ index }) => index === active);
  const style = {
    "--columns": columns.template,
    "--grid-width": `${columns.width}px`,
  } as CSSProperties;
  return (
    <Edges scroller={scroller}>
      <div
        ref={scroller}
        className="data-grid"
        role={role}
        aria-label={label}
        aria-description={hint}
        aria-busy={busy}
        aria-rowcount={count + 1}
        aria-colcount={columns.visible.length}
        aria-activedescendant={shown ? rowId(active) : undefined}
        tabIndex={0}
        style={style}
        onClick={props.onClick}
        onDoubleClick={props.onDoubleClick}
        onPointerMove={props.onPointerMove}
        onPointerOver={props.onPointerOver}
        onKeyDown={props.onKeyDown}
        onFocus={(event) => {
          if (event.target === event.currentTarget && active < 0 && count > 0) onEnter();
        }}
      >
        <Header columns={columns} sorts={sorts} onSort={onSort} />
        <div role="rowgroup" className="grid-body" style={{ height: virtual.getTotalSize() }}>
          {children}
        </div>
      </div>
    </Edges>
  );
}
