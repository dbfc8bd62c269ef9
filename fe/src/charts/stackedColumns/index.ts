export { type ColumnSeries, largestFirst, totalsOf } from "../merge";
export { RANGE, type Range, rangeWithin } from "./range";
export { Columns } from "./StackedColumns";
