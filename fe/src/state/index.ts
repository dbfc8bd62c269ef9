export {
  goToView,
  linkToPage,
  linkToView,
  selectTrace,
  useParam,
  useParams,
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
