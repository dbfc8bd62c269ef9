import { useCallback, useDeferredValue, useEffect, useMemo, useRef, useState } from "react";
import { around, childrenOf, countChildren, levelsOf, visibleRows, withParents } from "../draw";
import { tableTexts } from "../i18n";
import { Button } from "../ui";
import { type Expansion, formatExpansion, isOpen, parseExpansion, toggle } from "./expansion";
import { allRows, rowCount, type Table } from "./model";
import { parseSorts, sortRows } from "./sort";
import { TableFrame, useFrame } from "./TableFrame";
import { TreeGrid } from "./TreeGrid";
import { useMatches } from "./useMatches";

const NOTHING_CLOSED: ReadonlySet<number> = new Set();

export interface TreeTableProps {
  /** Under this name the columns are remembered and files are saved. */
  readonly id: string;
  readonly label: string;
  /** Must keep its identity while it has the same contents. */
  readonly table: Table;
  /** Of each row, -1 at the top. Parents stand before their children. */
  readonly parent: readonly number[];
  /** What an open row is remembered by: whole numbers that mean the same the next time; the row itself when left out. */
  readonly keys?: readonly number[];
  readonly filter: string;
  readonly onFilter: (text: string) => void;
  /** As in `DataTable`; it orders the rows within the same parent. */
  readonly sort: string;
  readonly onSort: (sort: string) => void;
  /** Whether a row is open as long as it was not toggled; the outermost ones when left out. */
  readonly usuallyOpen?: (row: number) => boolean;
  /** As `formatExpansion` writes it. */
  readonly expansion: string;
  readonly onExpansion: (expansion: string) => void;
  /** A row, -1 for none. */
  readonly selected: number;
  readonly onSelect: (row: number) => void;
}

/** A table of rows inside each other: filter box, buttons and grid. */
export function TreeTable(props: TreeTableProps) {
  const { label, table, parent, keys, filter, sort, selected } = props;
  const sorts = useMemo(() => parseSorts(sort, table.columns), [sort, table.columns]);
  const frame = useFrame(props, sorts);
  const level = useMemo(() => levelsOf(parent), [parent]);
  const children = useMemo(() => {
    if (sorts.length === 0) return childrenOf(parent);
    const all = allRows(table);
    return childrenOf(parent, sortRows(all, table.rows, sorts));
  }, [parent, table, sorts]);

  const matches = useMatches(table, useDeferredValue(filter));
  const { hits } = matches;
  const kept = useMemo(() => (hits ? withParents(parent, hits) : null), [parent, hits]);
  const expansion = useMemo(() => parseExpansion(props.expansion), [props.expansion]);
  const setExpansion = (next: Expansion) => props.onExpansion(formatExpansion(next));
  const keyOf = (row: number) => keys?.[row] ?? row;
  // What a filter finds must be seen, so everything is open then but what is closed by hand meanwhile.
  const [closed, setClosed] = useState<{ hits: Uint8Array | null; rows: ReadonlySet<number> }>({
    hits: null,
    rows: NOTHING_CLOSED,
  });
  const closedRows = closed.hits === hits ? closed.rows : NOTHING_CLOSED;
  const { usuallyOpen } = props;
  const usual = useCallback(
    (row: number) => (usuallyOpen ? usuallyOpen(row) : level[row] === 0),
    [usuallyOpen, level],
  );
  const open = (row: number) =>
    hits ? !closedRows.has(row) : isOpen(expansion, keyOf(row), usual(row));
  const onToggle = (row: number) => {
    if (!hits) {
      setExpansion(toggle(expansion, keyOf(row)));
      return;
    }
    const rows = new Set(closedRows);
    if (!rows.delete(row)) rows.add(row);
    setClosed({ hits, rows });
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: `open` depends on nothing else
  const visible = useMemo(
    () => visibleRows(children, open, kept),
    [children, kept, expansion, closedRows, usual, keys],
  );

  // What was selected somewhere else must not be hidden in a closed row.
  const shownFor = useRef(-1);
  useEffect(() => {
    if (selected === shownFor.current) return;
    shownFor.current = selected;
    if (selected < 0 || hits) return;
    const opened = around(parent, selected).reduce(
      (next, row) =>
        isOpen(next, keys?.[row] ?? row, usual(row)) ? next : toggle(next, keys?.[row] ?? row),
      expansion,
    );
    if (opened !== expansion) props.onExpansion(formatExpansion(opened));
  }, [selected, hits, parent, keys, usual, expansion, props.onExpansion]);

  const total = rowCount(table);
  const buttons = (
    <>
      <Button
        onClick={() => {
          setExpansion({ base: "all", toggled: NOTHING_CLOSED });
          setClosed({ hits, rows: NOTHING_CLOSED });
        }}
      >
        {tableTexts.tree.openAll}
      </Button>
      <Button
        onClick={() => {
          setExpansion({ base: "none", toggled: NOTHING_CLOSED });
          setClosed({ hits, rows: new Set(parent.filter((row) => row >= 0)) });
        }}
      >
        {tableTexts.tree.closeAll}
      </Button>
    </>
  );
  return (
    <TableFrame
      frame={frame}
      problem={matches.problem}
      found={matches.count}
      total={total}
      waiting={matches.pending}
      empty={visible.length === 0}
      shown={() => ({ rows: table.rows, order: visible })}
      all={() => ({ rows: table.rows, order: everything(total, children) })}
      buttons={buttons}
    >
      <TreeGrid
        label={label}
        rows={table.rows}
        visible={visible}
        level={level}
        parent={parent}
        isOpen={open}
        isParent={(row) => countChildren(children, row) > 0}
        onToggle={onToggle}
        hits={hits}
        columns={frame.columns}
        sorts={sorts}
        onSort={frame.onSort}
        selected={selected}
        onSelect={props.onSelect}
        onCopyRow={(row) => frame.taking.copyRow(row, table.rows)}
      />
    </TableFrame>
  );
}

/** A file has all rows, whether they are open or not. */
function everything(total: number, children: ReturnType<typeof childrenOf>): readonly number[] {
  return total === 0 ? [] : visibleRows(children, () => true, null);
}
