import { type ReactNode, useMemo } from "react";
import { count } from "../format";
import { t, tableTexts } from "../i18n";
import { Link } from "../ui";
import { type DrawnColumn, drawColumns } from "./columns";
import { FilterBox } from "./FilterBox";
import { exampleFor, type FilterProblem } from "./filter";
import type { Table } from "./model";
import { formatSorts, type Sort, toggleSort } from "./sort";
import { TableTools, type TakeRows, type Taking, useTaking } from "./TableTools";
import { type ColumnState, useColumnState } from "./useColumnState";
import "./listTable.css";
import "./table.css";

/** What every table is given. */
interface Given {
  readonly id: string;
  readonly label: string;
  readonly table: Table;
  readonly filter: string;
  readonly onFilter: (text: string) => void;
  readonly onSort: (sort: string) => void;
}

interface Frame {
  readonly given: Given;
  readonly drawn: readonly DrawnColumn[];
  readonly columns: ColumnState;
  readonly taking: Taking;
  /** Of the head of a column. */
  readonly onSort: (key: string, additive: boolean) => void;
}

/** What a table keeps of its columns, whatever grid shows its rows. */
export function useFrame(given: Given, sorts: readonly Sort[]): Frame {
  const { id, table } = given;
  const drawn = useMemo(() => drawColumns(table, tableTexts), [table]);
  const columns = useColumnState(id, drawn);
  const taking = useTaking(columns.visible);
  return {
    given,
    drawn,
    columns,
    taking,
    onSort: (key, additive) => {
      const column = table.columns.find((candidate) => candidate.key === key);
      if (column) given.onSort(formatSorts(toggleSort(sorts, column, additive)));
    },
  };
}

interface Props {
  readonly frame: Frame;
  readonly problem: FilterProblem | null;
  /** Rows that the filter leaves, of all. */
  readonly found: number;
  readonly total: number;
  /** Whether `found` is not known yet. */
  readonly waiting: boolean;
  /** Other rows are on their way. */
  readonly busy?: boolean;
  /** Whether the grid has no row. */
  readonly empty: boolean;
  /** What is copied. */
  readonly shown: TakeRows;
  /** What a file has, where that is more. */
  readonly all?: TakeRows;
  /** Further buttons. */
  readonly buttons?: ReactNode;
  /** The grid. */
  readonly children: ReactNode;
}

/** What is around the rows of every table: filter box, count and buttons above, the way out of an empty filter below. */
export function TableFrame(props: Props) {
  const { found, total, busy = false } = props;
  const { given, drawn, columns, taking } = props.frame;
  const { id, label, table, filter, onFilter } = given;
  return (
    <div className={busy ? "data-table busy" : "data-table"}>
      <div className="data-table-bar">
        <FilterBox
          label={label}
          filter={filter}
          onFilter={onFilter}
          problem={props.problem}
          example={exampleFor(table.columns)}
        />
        <span className="data-table-count" role="status">
          {taking.message ||
            (props.waiting ? t.panel.loading : tableTexts.rows(count(found), count(total)))}
        </span>
        {props.buttons}
        <TableTools
          id={id}
          table={table}
          drawn={drawn}
          columns={columns}
          taking={taking}
          shown={props.shown}
          all={props.all}
        />
      </div>
      {props.children}
      {props.empty && total > 0 && !busy && (
        <p className="data-table-empty">
          {tableTexts.noMatch} <Link onClick={() => onFilter("")}>{tableTexts.clearFilter}</Link>
        </p>
      )}
    </div>
  );
}
