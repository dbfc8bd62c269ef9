export { Donut } from "./Donut";
export { HBars } from "./HBars";
export { PairedBars } from "./PairedBars";
export { StackedBars } from "./StackedBars";
export { TopNControl } from "./TopNControl";
export { type ChartTheme, readTheme } from "./theme";
export { DEFAULT_TOP, largest, parseTopN, type Ranked, slicesWithRest, type TopN } from "./topN";
export type {
  BarSeries,
  ChartColor,
  DonutProps,
  HBarItem,
  HBarsProps,
  PairedBarsProps,
  PairedItem,
  Slice,
  StackedBarsProps,
} from "./types";
