import { wantedLanguages } from "../host/language";
import { en } from "./en";
import { pickLanguage } from "./languages";

export { LANGUAGES, type LanguageId, pickLanguage } from "./languages";
export {
  evidenceLabel,
  findingDetail,
  findingTitle,
  noteText,
  reasonText,
  serverText,
  type Values,
} from "./said";

export type Messages = typeof en;

/**
 * The messages of the language in use, settled before any other code is loaded (see index.ts of the page), so that
 * they may be read at the top of a module.
 */
export let t: Messages = en;

export async function settleLanguage(): Promise<void> {
  if (pickLanguage(wantedLanguages()) === "en") return;
  try {
    t = (await import("./zh-CN")).zhCN;
  } catch {
    // Better in English than not at all.
  }
}
