import { wantedLanguages } from "../host/language";
import { en, type Messages } from "./en";
import { pickLanguage } from "./languages";
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
