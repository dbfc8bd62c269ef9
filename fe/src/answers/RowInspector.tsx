import { type ReactNode, useMemo } from "react";
import { type Result, settled, type TableHandle, type TraceKey, useTable } from "../api";
import { useBaseline, useTrace } from "../state";
import { type Answer, onlyRow, RowNumbers, type Table, type TableRoute, useRowOf } from "../table";
import { Async, Skeleton } from "../ui";
import "../ui/lines.css";

interface Props<R extends TableRoute> {
  readonly name: string;
  readonly tableOf: (sel: TraceKey | null) => TableHandle<R>;
  /** The table that a view makes of an answer. */
  readonly shape: (answer: Answer<R>, baseline?: Answer<R> | null) => Table;
  /** Columns that are not shown. */
  readonly without: readonly string[];
  /** What is said where there is no such row. */
  readonly gone: string;
  /** What stands below the numbers. */
  readonly children: (table: Table) => ReactNode;
}

/** The row of a name in a table of the server, with what it was in the baseline, and the change. */
export function RowInspector<R extends TableRoute>(props: Props<R>) {
  const query = useTable(props.tableOf(useTrace().sel)) as Result<Answer<R>>;
  return <Async query={query}>{(answer) => <Found {...props} answer={answer} />}</Async>;
}

function Found<R extends TableRoute>({
  answer: first,
  ...props
}: Props<R> & { readonly answer: Answer<R> }) {
  const { name, tableOf, shape, gone } = props;
  const { answer, row } = useRowOf(first, tableOf(useTrace().sel), name);
  const baseline = useBaseline()?.key ?? null;
  const compared = useTable(tableOf(baseline)) as Result<Answer<R>>;
  const before = baseline && settled(compared);
  if (row === null) return <Skeleton />;
  if (row < 0) return <p className="muted">{gone}</p>;
  return before ? (
    <Compared {...props} answer={answer} row={row} baseline={before} />
  ) : (
    <Shown {...props} table={shape(answer)} row={row} />
  );
}

interface ComparedProps<R extends TableRoute> extends Props<R> {
  readonly answer: Answer<R>;
  readonly row: number;
  /** Its table, or the first page of it. */
  readonly baseline: Answer<R>;
}

function Compared<R extends TableRoute>({
  answer,
  row,
  baseline: first,
  ...props
}: ComparedProps<R>) {
  const { name, tableOf, shape } = props;
  const before = useRowOf(first, tableOf(useBaseline()?.key ?? null), name);
  const table = useMemo(
    () =>
      before.row === null ? null : shape(onlyRow(answer, row), onlyRow(before.answer, before.row)),
    [shape, answer, row, before.answer, before.row],
  );
  return table ? <Shown {...props} table={table} row={0} /> : <Skeleton />;
}

interface ShownProps extends Pick<Props<TableRoute>, "without" | "children"> {
  readonly table: Table;
  readonly row: number;
}

function Shown({ table, row, without, children }: ShownProps) {
  return (
    <div className="stack">
      <RowNumbers table={table} row={row} without={without} />
      {children(table)}
    </div>
  );
}
