export { settleAreas, t } from "./current";
export { capture as captureTexts } from "./en/capture";
export { charts as chartsTexts } from "./en/charts";
export { compare as compareTexts } from "./en/compare";
export { dialogs as dialogsTexts } from "./en/dialogs";
export { distributed as distributedTexts } from "./en/distributed";
export { flame as flameTexts } from "./en/flame";
export { kernels as kernelsTexts } from "./en/kernels";
export { memory as memoryTexts } from "./en/memory";
export { modules as modulesTexts } from "./en/modules";
export { operators as operatorsTexts } from "./en/operators";
export { categoryName, overview as overviewTexts, stepKindName } from "./en/overview";
export { owners as ownersTexts } from "./en/owners";
export { parts as partsTexts } from "./en/parts";
export { ranks as ranksTexts } from "./en/ranks";
export { snapshot as snapshotTexts } from "./en/snapshot";
export { stackedColumns as stackedColumnsTexts } from "./en/stackedColumns";
export { stacks as stacksTexts } from "./en/stacks";
export { steps as stepsTexts } from "./en/steps";
export { table as tableTexts } from "./en/table";
export { timeline as timelineTexts } from "./en/timeline";
export { trace as traceTexts } from "./en/trace";
export { LANGUAGES, type LanguageId } from "./languages";
export { byEnd, partIn } from "./partIn";
export {
  boundText,
  columnWords,
  counterName,
  definitionText,
  evidenceLabel,
  findingAdvice,
  findingDetail,
  findingTitle,
  hangText,
  linkText,
  memoryText,
  noteText,
  reasonText,
  refusedText,
  remedyText,
  type Values,
} from "./serverMessages";
export { bare, textFor } from "./translation";
