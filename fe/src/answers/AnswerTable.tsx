/** Tables as views show them: filter and order in the address, further pages from the server, and what is picked. */
import { type ReactNode, useMemo } from "react";
import type { TableHandle, TraceKey } from "../api";
import { compareTexts } from "../i18n";
import { BaselineNote, useCompared } from "../shell";
import { type Param, type PickedKind, usePicked, useTableParams } from "../state";
import {
  type Answer,
  DataTable,
  type DataTableProps,
  type Rows,
  type Table,
  type TableRoute,
  textAt,
  useRemoteTable,
} from "../table";
import { type EmptyReason, QueryPanel } from "../ui";

interface ViewTableProps
  extends Omit<DataTableProps, "filter" | "onFilter" | "sort" | "onSort" | "remote"> {
  /** Of the address, as the next one. */
  readonly filter: Param<string>;
  readonly sort: Param<string>;
  /** The order where the address has none and the usual one depends on the answer. */
  readonly order?: string;
  /** What a row is for all views: the one that is picked is marked, and a click picks. */
  readonly kind?: PickedKind | undefined;
  /** What they call it, of the text in `nameKey`; "" for nothing that could be picked. */
  readonly nameOf?: (text: string) => string;
}

/** A table that is here. */
export function ViewTable(props: ViewTableProps & Pick<DataTableProps, "remote">) {
  const { filter, sort, order, kind, nameOf = String, ...table } = props;
  const state = useTableParams(filter, sort, order);
  const [picked, pick] = usePicked();
  const marks = kind && {
    selected: picked?.kind === kind ? picked.name : null,
    onSelect: (row: number, rows: Rows) => {
      const name = nameOf(textAt(rows, table.nameKey ?? "name", row));
      if (name !== "") pick({ kind, name });
    },
  };
  return <DataTable {...table} {...state} {...marks} />;
}

interface AnswerTableProps<A> extends Omit<ViewTableProps, "table"> {
  readonly answer: A;
  /** Where the answer may be only the first page of its table. */
  readonly handle?: TableHandle | null;
  /** The table of an answer, beside that of the baseline; must keep its identity. */
  readonly shape: (answer: A, baseline?: A | null) => Table;
  readonly baseline?: A | null;
}

/** A table of an answer of the server, of which the rest is fetched when it is looked at. */
export function AnswerTable<A>(props: AnswerTableProps<A>) {
  const { answer, handle = null, shape, baseline = null, ...table } = props;
  return (
    <ViewTable
      {...table}
      table={useMemo(() => shape(answer, baseline), [shape, answer, baseline])}
      remote={useRemoteTable(answer, handle, shape)}
    />
  );
}

const GONE = <p className="muted">{compareTexts.table.gone}</p>;

interface PanelProps<R extends TableRoute>
  extends Omit<
    AnswerTableProps<Answer<R>>,
    "label" | "answer" | "handle" | "baseline" | "order" | "renderExpanded"
  > {
  readonly title: string;
  readonly tableOf: (sel: TraceKey | null) => TableHandle<R>;
  readonly order?: (answer: Answer<R>) => string;
  readonly empty?: (answer: Answer<R>) => EmptyReason | null;
  readonly actions: (answer: Answer<R> | undefined) => ReactNode;
  /** `gone` is what to say of a row that only the baseline has. */
  readonly renderExpanded: (row: number, rows: Rows, gone: ReactNode) => ReactNode;
  /** Above the rows. */
  readonly children: (answer: Answer<R>) => ReactNode;
}

/** A panel of such a table, with columns of the baseline where there is one. */
export function ComparedPanel<R extends TableRoute>(props: PanelProps<R>) {
  const { title, tableOf, order, empty, actions, children, renderExpanded, ...table } = props;
  const { shown, query, baseline, awaited, after, before } = useCompared(tableOf);
  return (
    <QueryPanel title={title} query={query} actions={actions(query.data)} {...(empty && { empty })}>
      {(answer) => (
        <>
          <BaselineNote baseline={baseline} query={awaited} />
          {children(after ?? answer)}
          <AnswerTable
            {...table}
            label={title}
            order={order?.(after ?? answer)}
            answer={after ?? answer}
            handle={shown}
            baseline={before}
            renderExpanded={(row, rows) =>
              renderExpanded(row, rows, rows.calls?.[row] === 0 ? GONE : null)
            }
          />
        </>
      )}
    </QueryPanel>
  );
}
