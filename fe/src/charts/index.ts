export type { ChartRow } from "./ChartTable";
export { Donut } from "./Donut";
export { Gantt } from "./Gantt";
export { HBars } from "./HBars";
export { HeatMap } from "./HeatMap";
export { largestFirst } from "./merge";
export { PairedBars } from "./PairedBars";
export { Scatter } from "./Scatter";
export { Segments } from "./Segments";
export { StackedBars } from "./StackedBars";
export { TimeCurve, type TimeCurveProps } from "./TimeCurve";
export { TimeRange } from "./TimeRange";
export { TopNControl } from "./TopNControl";
export { DEFAULT_TOP, largest, parseTopN, type Ranked, slicesWithRest, type TopN } from "./topN";
export type {
  BarSeries,
  CurveArea,
  CurveEvent,
  CurveLine,
  CurveMark,
  CurveSpan,
  DonutProps,
  GanttSpan,
  HBarItem,
  HBarsProps,
  PairedBarsProps,
  PairedItem,
  ScatterSeries,
  Slice,
  StackedBarsProps,
} from "./types";
