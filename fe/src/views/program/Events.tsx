/** Tables whose rows are events of the trace. */
import { useMemo } from "react";
import { doorsToEvents } from "../../shell/findings/showInTrace";
import { type Cell, firstRows, rowCount, SimpleTable, type Table } from "../../table";

/** The first rows, without columns that are not shown or in which no cell says anything. */
export function shownOf(
  table: Table,
  most: number,
  says: (cell: Cell, key: string) => boolean = () => true,
): Table {
  const { columns, rows } = firstRows(table, most);
  const isShown = (key: string) => rows[key]?.some((cell) => says(cell, key)) ?? false;
  return { columns: columns.filter(({ key, hidden }) => !hidden && isShown(key)), rows };
}

interface Props {
  readonly caption: string;
  /** All of it; must keep its identity. */
  readonly table: Table;
  /** What is shown of it; must keep its identity. */
  readonly shape: (table: Table) => Table;
}

/** Rows that lead to their events; nothing without any. */
export function Events({ caption, table, shape }: Props) {
  const shown = useMemo(() => shape(table), [shape, table]);
  if (rowCount(table) === 0) return null;
  return <SimpleTable caption={caption} table={shown} doorOf={doorsToEvents(table.rows)} />;
}
