export { crisp, useBoxWidth } from "./canvas";
export { computedColors, contrast, css, mix, pack, parseColor, type Rgb } from "./colors";
export { hash } from "./hash";
export { PointerTip } from "./PointerTip";
export type { Raster } from "./raster";
export { TipContent, type TooltipContent, type TooltipLine } from "./TipContent";
export {
  type ChartColor,
  type ChartTheme,
  readTheme,
  seriesColor,
  wantsPatterns,
} from "./theme";
export * from "./ticks";
export * from "./timeWindow";
export {
  around,
  type Children,
  childrenOf,
  countChildren,
  levelsOf,
  visibleRows,
  withParents,
} from "./tree";
