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
  swapTraces,
  type TableParams,
  useMany,
  useParam,
  useParams,
  usePart,
  useSelected,
  useStepParams,
  useStepRange,
  useTableParams,
  useViewId,
} from "./hooks";
export { SCHEMA } from "./keys";
export { formatRange, isWhole, type StepList, type StepRange } from "./range";
export type { Dropped } from "./resolve";
export { spansOf, workersOf } from "./resolve";
export type { Selected, SelectionKind } from "./select";
export { formatSelected, parseSelected, SELECTION_KINDS } from "./select";
export { type Selection, SelectionProvider, useSelection } from "./selection";
export { patternError, STEP_RULES } from "./steps";
export {
  FIRST_VIEW,
  type GroupId,
  isViewId,
  JUMP_KEYS,
  VIEW_GROUPS,
  VIEW_IDS,
  type ViewId,
} from "./views";
