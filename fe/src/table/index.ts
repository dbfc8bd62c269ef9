export { inWords } from "./columns";
export {
  changeOf,
  deltaOf,
  deltaPercentOf,
  STATUS,
  statusColumn,
  statusOf,
  withBaseline,
} from "./compare";
export { DataTable, type DataTableProps } from "./DataTable";
export { DeviceTable } from "./DeviceTable";
export {
  asDeclared,
  declared,
  derive,
  described,
  hiding,
  shareOf,
} from "./derive";
export { FilterBox } from "./FilterBox";
export { Bar, Ghost, type ListColumn, ListTable } from "./ListTable";
export {
  allRows,
  byName,
  type Cell,
  type CellColumn,
  type Column,
  type Drawing,
  declaredCells,
  declaredTable,
  firstRows,
  hasColumn,
  numberAt,
  numberColumn,
  only,
  onlyRow,
  type Rows,
  rowCount,
  rowsAt,
  shortNames,
  type Table,
  tableOf,
  textAt,
  textColumn,
  withShortNames,
} from "./model";
export { RowNumbers } from "./RowNumbers";
export { SimpleTable } from "./SimpleTable";
export { TreeTable } from "./TreeTable";
export { useDelayed } from "./useDelayed";
export { useMatches } from "./useMatches";
export {
  type Answer,
  notHere,
  type TableRoute,
  useLargest,
  useRemoteTable,
  useRowOf,
  useWhole,
} from "./useRemoteTable";
