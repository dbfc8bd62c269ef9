export { settleLanguage, t } from "./current";
export type { Messages } from "./en";
export { LANGUAGES, type LanguageId, pickLanguage } from "./languages";
export {
  definitionText,
  evidenceLabel,
  findingDetail,
  findingTitle,
  noteText,
  reasonText,
  serverText,
  type Values,
} from "./serverMessages";
