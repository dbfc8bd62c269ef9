export { DataTable, type DataTableProps } from "./DataTable";
export { type Derivation, declared, derive, perCall, shareOf } from "./derive";
export { equals } from "./filter";
export {
  type Cell,
  type Column,
  firstRows,
  hasColumn,
  numberAt,
  only,
  type Rows,
  rowCount,
  type Table,
  textAt,
} from "./model";
export { RowNumbers } from "./RowNumbers";
export { SimpleTable } from "./SimpleTable";
export type { RemoteTable } from "./useRemoteRows";
export {
  notHere,
  useLargest,
  useRemoteTable,
  useRowOf,
  useTableSource,
} from "./useRemoteTable";
