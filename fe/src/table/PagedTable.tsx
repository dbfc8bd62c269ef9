import { type ReactNode, useId, useMemo, useState } from "react";
import { count } from "../format";
import { t } from "../i18n";
import { drawColumns } from "./columns";
import { Grid } from "./Grid";
import { identityOf } from "./identity";
import { type Rows, rowCount, type Table } from "./model";
import { pagesOf, parsePage } from "./pages";
import { localRows } from "./rows";
import { formatSorts, parseSorts, toggleSort } from "./sort";
import { TableTools, useTaking } from "./TableTools";
import { useColumnState } from "./useColumnState";
import "./table.css";

export interface PagedTableProps {
  /** Under this name the columns are remembered and files are saved. */
  readonly id: string;
  readonly label: string;
  /** One page, filtered and ordered by the server. */
  readonly table: Table;
  /** Rows of all pages, where this one begins, and how many rows a full page has. */
  readonly total: number;
  readonly offset: number;
  readonly size: number;
  /** From 0. */
  readonly onPage: (page: number) => void;
  /** The column that names a row: selection goes by it. */
  readonly nameKey: string;
  /** Of one column, as `formatSorts` writes it; empty for the server's own order. */
  readonly sort: string;
  readonly onSort: (sort: string) => void;
  /** What narrows the rows down; the server does it. */
  readonly filters?: ReactNode;
  readonly selected?: string | null;
  readonly onSelect?: (row: number, rows: Rows) => void;
  readonly renderExpanded?: (row: number, rows: Rows) => ReactNode;
}

/** A table too long to be sent whole. What it can do is what `DataTable` can, but the server filters and orders. */
export function PagedTable(props: PagedTableProps) {
  const { id, label, table, total, offset, size, nameKey, sort, onSort } = props;
  const drawn = useMemo(() => drawColumns(table, t.table), [table]);
  const columns = useColumnState(id, drawn);
  const sorts = useMemo(() => parseSorts(sort, table.columns), [sort, table.columns]);
  const order = useMemo(() => Array.from({ length: rowCount(table) }, (_, row) => row), [table]);
  const source = useMemo(() => localRows(table.rows, order), [table, order]);
  const taking = useTaking(columns.visible);
  const { first, last, page, pages } = pagesOf(total, offset, size);
  const onSortColumn = (key: string) => {
    const column = table.columns.find((candidate) => candidate.key === key);
    if (column) onSort(formatSorts(toggleSort(sorts, column, false)));
  };
  return (
    <div className="data-table">
      <div className="data-table-bar">
        {props.filters}
        <span className="data-table-count" role="status">
          {taking.message ||
            (pages > 1
              ? t.table.page(count(first), count(last), count(total))
              : t.table.rows(count(total), count(total)))}
        </span>
        <TableTools
          id={id}
          table={table}
          drawn={drawn}
          columns={columns}
          taking={taking}
          shown={() => ({ rows: table.rows, order })}
        />
      </div>
      <Grid
        key={identityOf(table.rows)}
        label={label}
        source={source}
        busy={false}
        onRange={undefined}
        columns={columns}
        sorts={sorts}
        onSort={onSortColumn}
        nameKey={nameKey}
        selected={props.selected ?? null}
        onSelect={props.onSelect}
        renderExpanded={props.renderExpanded}
        onCopyRow={taking.copyRow}
      />
      {total === 0 && <p className="data-table-empty">{t.table.noMatch}</p>}
      {pages > 1 && <Pager label={label} page={page} pages={pages} onPage={props.onPage} />}
    </div>
  );
}

interface PagerProps {
  readonly label: string;
  readonly page: number;
  readonly pages: number;
  readonly onPage: (page: number) => void;
}

function Pager({ label, page, pages, onPage }: PagerProps) {
  const id = useId();
  const [draft, setDraft] = useState<string | null>(null);
  const go = (next: number) => {
    setDraft(null);
    onPage(Math.min(pages - 1, Math.max(0, next)));
  };
  const button = (text: string, sign: string, next: number, disabled: boolean) => (
    // Not `disabled`: that would take the focus away from who has just turned to the last page.
    <button
      type="button"
      className="button icon"
      aria-label={text}
      title={text}
      aria-disabled={disabled}
      onClick={() => disabled || go(next)}
    >
      <span aria-hidden="true">{sign}</span>
    </button>
  );
  return (
    <nav className="pager" aria-label={t.table.pages(label)}>
      {button(t.table.firstPage, "«", 0, page === 0)}
      {button(t.table.previousPage, "‹", page - 1, page === 0)}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (draft !== null) go(parsePage(draft));
        }}
      >
        <label htmlFor={id}>{t.table.pageField}</label>
        <input
          id={id}
          className="pager-field num"
          inputMode="numeric"
          autoComplete="off"
          value={draft ?? String(page + 1)}
          onChange={(event) => setDraft(event.target.value)}
          onBlur={() => setDraft(null)}
        />
        <span>{t.table.ofPages(count(pages))}</span>
      </form>
      {button(t.table.nextPage, "›", page + 1, page === pages - 1)}
      {button(t.table.lastPage, "»", pages - 1, page === pages - 1)}
    </nav>
  );
}
