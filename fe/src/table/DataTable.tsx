import { type ReactNode, useDeferredValue, useEffect, useMemo, useState } from "react";
import { count } from "../format";
import { copyText } from "../host";
import { t } from "../i18n";
import { ColumnChooser } from "./ColumnChooser";
import { drawColumns } from "./columns";
import { ExportMenu } from "./ExportMenu";
import { FilterBox } from "./FilterBox";
import { Grid } from "./Grid";
import type { Table } from "./model";
import { formatSorts, parseSorts, toggleSort } from "./sort";
import { toCsv, toJson, toTsv } from "./text";
import { useColumnState } from "./useColumnState";
import { useTableRows } from "./useTableRows";
import "./table.css";

const MESSAGE_MS = 2_500;

export interface DataTableProps {
  /** Under this name the columns are remembered and files are saved. */
  readonly id: string;
  readonly label: string;
  /** Must keep its identity while it has the same contents. */
  readonly table: Table;
  /** The column that names a row: plain filter words are looked for in it, and selection goes by it. */
  readonly nameKey?: string;
  readonly filter: string;
  readonly onFilter: (text: string) => void;
  /** As `formatSorts` writes it: `-device_self_ns,name`. */
  readonly sort: string;
  readonly onSort: (sort: string) => void;
  readonly selected?: string | null;
  readonly onSelect?: (row: number) => void;
  readonly renderExpanded?: (row: number) => ReactNode;
}

export function DataTable(props: DataTableProps) {
  const { id, label, table, nameKey = "name", filter, onFilter, sort, onSort } = props;
  const drawn = useMemo(() => drawColumns(table, t.table), [table]);
  const columns = useColumnState(id, drawn);
  const sorts = useMemo(() => parseSorts(sort, table.columns), [sort, table.columns]);
  // Typing stays fluent while a large table is filtered.
  const { order, total, problem } = useTableRows(table, useDeferredValue(filter), nameKey, sorts);
  const [message, setMessage] = useState("");
  useEffect(() => {
    if (!message) return;
    const timer = setTimeout(() => setMessage(""), MESSAGE_MS);
    return () => clearTimeout(timer);
  }, [message]);

  const shown = columns.visible.map(({ column }) => column);
  const copy = async (text: string, rows: number) => {
    const done = await copyText(text);
    setMessage(done ? t.table.copied(count(rows)) : t.table.copyFailed);
  };
  const onSortColumn = (key: string, additive: boolean) => {
    const column = table.columns.find((candidate) => candidate.key === key);
    if (column) onSort(formatSorts(toggleSort(sorts, column, additive)));
  };

  return (
    <div className="data-table">
      <div className="data-table-bar">
        <FilterBox label={label} filter={filter} onFilter={onFilter} problem={problem} />
        <span className="data-table-count" role="status">
          {message || t.table.rows(count(order.length), count(total))}
        </span>
        <ColumnChooser drawn={drawn} columns={columns} />
        <button
          type="button"
          className="button"
          title={t.table.copyHint}
          onClick={() => void copy(toTsv(shown, table.rows, order), order.length)}
        >
          {t.table.copy}
        </button>
        <ExportMenu
          name={id}
          csv={() => toCsv(shown, table.rows, order)}
          json={() => toJson(shown, table.rows, order)}
          onCopy={(text) => void copy(text, order.length)}
        />
      </div>
      <Grid
        key={identity(table.rows)}
        label={label}
        rows={table.rows}
        order={order}
        columns={columns}
        sorts={sorts}
        onSort={onSortColumn}
        nameKey={nameKey}
        selected={props.selected ?? null}
        onSelect={props.onSelect}
        renderExpanded={props.renderExpanded}
        onCopyRow={(row) => void copy(toTsv(shown, table.rows, [row]), 1)}
      />
      {order.length === 0 && total > 0 && (
        <p className="data-table-empty">
          {t.table.noMatch}{" "}
          <button type="button" className="link" onClick={() => onFilter("")}>
            {t.table.clearFilter}
          </button>
        </p>
      )}
    </div>
  );
}

const identities = new WeakMap<object, number>();
let nextIdentity = 0;

/** Row numbers mean something else in other data, so what the grid remembers by them must go. */
function identity(rows: object): number {
  let found = identities.get(rows);
  if (found === undefined) {
    found = nextIdentity++;
    identities.set(rows, found);
  }
  return found;
}
