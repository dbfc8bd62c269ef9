export { Donut } from "./Donut";
export { HBars } from "./HBars";
export { PairedBars } from "./PairedBars";
export { StackedBars } from "./StackedBars";
export { TimeCurve, type TimeCurveProps } from "./TimeCurve";
export { TimeRange } from "./TimeRange";
export { TopNControl } from "./TopNControl";
export { DEFAULT_TOP, largest, parseTopN, type Ranked, slicesWithRest, type TopN } from "./topN";
export type {
  BarSeries,
  CurveLine,
  CurveMark,
  CurveSpan,
  DonutProps,
  HBarItem,
  HBarsProps,
  PairedBarsProps,
  PairedItem,
  Slice,
  StackedBarsProps,
} from "./types";
