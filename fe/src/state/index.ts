export {
  flushParams,
  goToView,
  linkToPage,
  linkToView,
  selectTrace,
  useParam,
  useParams,
  useSelected,
  useStepParams,
  useStepRange,
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
