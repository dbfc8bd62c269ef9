export { crisp, useBoxWidth } from "./canvas";
export { captionLines, setCaption } from "./caption";
export { computedColors, contrast, css, mix, onColor, pack, parseColor, type Rgb } from "./colors";
export { hash } from "./hash";
export { PointerTip } from "./PointerTip";
export type { Raster } from "./raster";
export { TipContent, type TooltipContent } from "./TipContent";
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
  childrenOf,
  countChildren,
  levelsOf,
  visibleRows,
  withParents,
} from "./tree";
