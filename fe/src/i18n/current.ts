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
    t = (await import("./zh-CN")).zhCN;
  } catch {
    // Better in English than not at all.
  }
}

/** The same for what is fetched later: to be awaited before such code, which reads its texts while it is loaded. */
export async function settleAreas(): Promise<void> {
  if (t.lang === "en") return;
  try {
    setTranslation((await import("./zh-CN/views")).views);
  } catch {
    // As above; the next piece of code tries again.
  }
}

/** A few words that stand where they are used. */
export function inLanguage(words: Readonly<Record<LanguageId, string>>): string {
  return words[t.lang as LanguageId];
}
