export type { ChartRow } from "./ChartTable";
export { DeviationMap } from "./DeviationMap";
export { Donut } from "./Donut";
export { Gantt } from "./Gantt";
export { HBars } from "./HBars";
export { HeatMap } from "./HeatMap";
export { Lanes } from "./Lanes";
export { largestFirst } from "./merge";
export { PairedBars } from "./PairedBars";
export { Scatter } from "./Scatter";
export { Segments } from "./Segments";
export { StackedBars } from "./StackedBars";
export { TimeCurve } from "./TimeCurve";
export { TimeRange } from "./TimeRange";
export { TopNControl } from "./TopNControl";
export { Tornado } from "./Tornado";
export { Treemap } from "./Treemap";
export { largest, type Ranked, slicesWithRest, type TopN } from "./topN";
export { treemapGroups } from "./treemapGroups";
export type {
  CurveEvent,
  CurveLine,
  CurveMark,
  CurveSpan,
  GanttSpan,
  HBarItem,
  LaneMark,
  LanesData,
  PairedItem,
  ScatterSeries,
  Slice,
  TornadoItem,
  TreemapGroup,
  WaitsData,
} from "./types";
export { Waits } from "./Waits";
