import { wantedLanguages } from "../host/language";
import { en, type Messages } from "./en";
import { type LanguageId, pickLanguage } from "./languages";
import { setTranslation } from "./translation";

/**
 * The messages of the language in use, settled before any other code is loaded (see index.ts of the page), so that
 * they may be read at the top of a module.
 */
export let t: Messages = en;

export async function settleLanguage(): Promise<void> {
  if (pickLanguage(wantedLanguages()) === "en") return;
  try {
    const { zhCN, zhCNAreas } = await import("./zh-CN");
    t = zhCN;
    setTranslation(zhCNAreas);
  } catch {
    // Better in English than not at all.
  }
}

/** A few words that stand where they are used. */
export function inLanguage(words: Readonly<Record<LanguageId, string>>): string {
  return words[t.lang as LanguageId];
}
