import { type ReactNode, useDeferredValue, useMemo } from "react";
import { count } from "../format";
import { t } from "../i18n";
import { drawColumns } from "./columns";
import { FilterBox } from "./FilterBox";
import { Grid } from "./Grid";
import { identityOf } from "./identity";
import type { Table } from "./model";
import { formatSorts, parseSorts, toggleSort } from "./sort";
import { TableTools, useCopyRows } from "./TableTools";
import { useColumnState } from "./useColumnState";
import { useTableRows } from "./useTableRows";
import "./table.css";

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
  const copying = useCopyRows(columns.visible, table.rows);
  const onSortColumn = (key: string, additive: boolean) => {
    const column = table.columns.find((candidate) => candidate.key === key);
    if (column) onSort(formatSorts(toggleSort(sorts, column, additive)));
  };

  return (
    <div className="data-table">
      <div className="data-table-bar">
        <FilterBox label={label} filter={filter} onFilter={onFilter} problem={problem} />
        <span className="data-table-count" role="status">
          {copying.message || t.table.rows(count(order.length), count(total))}
        </span>
        <TableTools
          id={id}
          drawn={drawn}
          columns={columns}
          rows={table.rows}
          order={order}
          copying={copying}
        />
      </div>
      <Grid
        key={identityOf(table.rows)}
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
        onCopyRow={(row) => copying.copyRows([row])}
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
