export { type Baseline, useBaseline } from "./baseline";
export {
  baselineKey,
  type Comparison,
  counterpart,
  type FoundTrace,
  findTrace,
  sameTraceName,
  suggestBaseline,
  type TraceName,
  type Why,
} from "./comparison";
export {
  EVERYTHING,
  flushParams,
  goToView,
  linkToPage,
  linkToView,
  selectTrace,
  setBaseline,
  setParams,
  swapTraces,
  type TableParams,
  useChoice,
  useMany,
  useParam,
  usePart,
  usePicked,
  useStepParams,
  useStepRange,
  useTableParams,
  useText,
  useViewId,
} from "./hooks";
export { SCHEMA } from "./keys";
export type { Picked, PickedKind } from "./picked";
export { formatPicked, PICKED_KINDS, parsePicked } from "./picked";
export { formatRange, isWhole, type StepList, type StepRange } from "./range";
export type { Dropped } from "./resolve";
export { spansOf, workersOf } from "./resolve";
export { patternError, STEP_RULES } from "./steps";
export { type CurrentTrace, TraceProvider, useTrace } from "./trace";
export {
  allViews,
  FIRST_VIEW,
  findView,
  type GroupId,
  homeOf,
  isViewId,
  setViews,
  type View,
  type ViewId,
  viewGroups,
  viewName,
} from "./views";
