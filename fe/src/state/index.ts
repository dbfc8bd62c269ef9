export {
  goToView,
  linkToPage,
  linkToView,
  selectTrace,
  useParam,
  useParams,
  useSelected,
  useViewId,
} from "./hooks";
export { SCHEMA } from "./keys";
export type { Dropped } from "./resolve";
export { spansOf, workersOf } from "./resolve";
export type { Selected, SelectionKind } from "./select";
export { formatSelected, parseSelected } from "./select";
export { type Selection, SelectionProvider, useSelection } from "./selection";
export { FIRST_VIEW, isViewId, VIEW_IDS, type ViewId } from "./views";
