import { wantedLanguages } from "../host/language";
import { en, type Messages } from "./en";
import { pickLanguage } from "./languages";

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
