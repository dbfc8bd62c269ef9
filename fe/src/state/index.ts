export { change, type Param } from "./address";
export { type Baseline, useBaseline } from "./baseline";
export {
  baselineKey,
  type Comparison,
  counterpart,
  type FoundTrace,
  findTrace,
  likeness,
  sameTraceName,
  suggestBaseline,
  type TraceName,
  type Why,
} from "./comparison";
export {
  flushParams,
  goToView,
  linkToPage,
  linkToView,
  selectTrace,
  setAddress,
  setBaseline,
  swapTraces,
  useAddress,
  usePicked,
  useStepParams,
  useTableParams,
  useViewId,
} from "./hooks";
export { page, SCHEMA } from "./page";
export type { Picked, PickedKind } from "./picked";
export { formatPicked, parsePicked } from "./picked";
export { formatRange, type StepList, type StepRange } from "./range";
export type { Dropped } from "./resolve";
export { newestFirst, spansOf, workersOf } from "./resolve";
export { patternError, STEP_RULES } from "./steps";
export { type CurrentTrace, TraceProvider, useTrace } from "./trace";
export {
  allViews,
  findView,
  isViewId,
  setViews,
  type View,
  type ViewId,
  type ViewLook,
  type ViewParams,
  viewGroups,
  viewName,
} from "./views";
