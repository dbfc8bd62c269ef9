import { type ReactNode, useDeferredValue, useMemo } from "react";
import { Failure } from "../ui";
import type { FilterProblem } from "./filter";
import { Grid } from "./Grid";
import { identityOf } from "./identity";
import { allRows, type Rows, type Table } from "./model";
import type { RowSource } from "./rows";
import { formatSorts, parseSorts, type Sort } from "./sort";
import { TableFrame, useFrame } from "./TableFrame";
import type { TakeRows } from "./TableTools";
import { useDelayed } from "./useDelayed";
import { useFilter } from "./useFilter";
import { type RemoteRows, type RemoteTable, useRemoteRows } from "./useRemoteRows";
import { useTableRows } from "./useTableRows";

/** Of no typing, before the server is asked. */
const TYPING_MS = 250;

export interface DataTableProps {
  /** Under this name the columns are remembered and files are saved. */
  readonly id: string;
  readonly label: string;
  /** Must keep its identity while it has the same contents. */
  readonly table: Table;
  /** Where `table` is only the first page: how to come by the others. */
  readonly remote?: RemoteTable | null;
  /** The column that names a row: plain filter words are looked for in it, and selection goes by it. */
  readonly nameKey?: string;
  readonly filter: string;
  readonly onFilter: (text: string) => void;
  /** As `formatSorts` writes it: `-device_self_ns,name`. */
  readonly sort: string;
  readonly onSort: (sort: string) => void;
  readonly selected?: string | null;
  /** `row` is a position in `rows`, which are those of `table` unless the table is remote. */
  readonly onSelect?: (row: number, rows: Rows) => void;
  readonly renderExpanded?: (row: number, rows: Rows) => ReactNode;
}

/** A table to sort, filter, arrange and export: here, or with the help of the server where it is large. */
export function DataTable({ remote, ...props }: DataTableProps) {
  return remote ? <RemoteTableView {...props} remote={remote} /> : <LocalTableView {...props} />;
}

function LocalTableView(props: DataTableProps) {
  const { table, nameKey = "name", sort } = props;
  const sorts = useMemo(() => parseSorts(sort, table.columns), [sort, table.columns]);
  // Typing stays fluent while a large table is filtered.
  const filter = useFilter(table, useDeferredValue(props.filter), nameKey);
  const { source, total, order } = useTableRows(table, filter, sorts);
  return (
    <TableView
      {...props}
      sorts={sorts}
      source={source}
      total={total}
      problem={filter.problem}
      pending={filter.pending}
      all={() => ({ rows: table.rows, order })}
    />
  );
}

function RemoteTableView(props: DataTableProps & { readonly remote: RemoteTable }) {
  const { table, nameKey = "name", sort, remote } = props;
  const sorts = useMemo(() => parseSorts(sort, table.columns), [sort, table.columns]);
  const filter = useFilter(table, useDelayed(props.filter, TYPING_MS), nameKey, false);
  const { text } = filter;
  const asked = useMemo(
    () => ({ sort: formatSorts(sorts), filter: text, search: nameKey }),
    [sorts, text, nameKey],
  );
  const rows = useRemoteRows(remote, asked);
  return (
    <TableView
      {...props}
      sorts={sorts}
      source={rows.source}
      total={rows.total}
      problem={filter.problem}
      server={rows}
      all={async () => {
        const all = await rows.all();
        return { rows: all.rows, order: allRows(all) };
      }}
    />
  );
}

interface TableViewProps extends DataTableProps {
  readonly sorts: readonly Sort[];
  readonly source: RowSource;
  readonly total: number;
  readonly problem: FilterProblem | null;
  /** Whether the filter is still at work. */
  readonly pending?: boolean;
  /** Of a table whose rows come from the server. */
  readonly server?: RemoteRows;
  /** What is copied and saved. */
  readonly all: TakeRows;
}

function TableView(props: TableViewProps) {
  const { label, table, nameKey = "name", sorts, source, total, server } = props;
  const frame = useFrame(props, sorts);
  const busy = server?.busy ?? false;
  return (
    <TableFrame
      frame={frame}
      problem={props.problem}
      found={source.length}
      total={total}
      waiting={props.pending || (total === 0 && busy)}
      busy={busy}
      empty={source.length === 0}
      shown={props.all}
    >
      {server?.error && !server.error.loading && (
        <Failure error={server.error} onRetry={server.retry} />
      )}
      <Grid
        key={identityOf(table.rows)}
        label={label}
        source={source}
        busy={busy}
        onRange={server?.onRange}
        columns={frame.columns}
        sorts={sorts}
        onSort={frame.onSort}
        nameKey={nameKey}
        selected={props.selected ?? null}
        onSelect={props.onSelect}
        renderExpanded={props.renderExpanded}
        onCopyRow={frame.taking.copyRow}
      />
    </TableFrame>
  );
}
