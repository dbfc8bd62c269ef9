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
  goToView,
  linkToPage,
  linkToView,
  selectTrace,
  setBaseline,
  swapTraces,
  useParam,
  useParams,
  usePart,
  useSelected,
  useStepParams,
  useViewId,
} from "./hooks";
export { SCHEMA } from "./keys";
export type { Dropped } from "./resolve";
export { spansOf, workersOf } from "./resolve";
export type { Selected, SelectionKind } from "./select";
export { formatSelected, parseSelected } from "./select";
export { type Selection, SelectionProvider, useSelection } from "./selection";
export { patternError, STEP_RULES } from "./steps";
export { FIRST_VIEW, type GroupId, isViewId, VIEW_GROUPS, VIEW_IDS, type ViewId } from "./views";
