export { type ColumnSeries, largestFirst, totalsOf } from "../merge";
export { formatRange, parseRange, type Range } from "./range";
export { Columns } from "./StackedColumns";
export type { ColumnsProps } from "./types";
