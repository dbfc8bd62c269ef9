export { Columns, type ColumnsProps } from "./Columns";
export { crisp, useWidth } from "./canvas";
export { type ColumnSeries, largestFirst, totalsOf } from "./merge";
export { formatRange, parseRange, type Range } from "./range";
