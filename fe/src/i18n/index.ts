import { wantedLanguages } from "../host/language";
import { en } from "./en";
import { pickLanguage } from "./languages";

export { LANGUAGES, type LanguageId, pickLanguage } from "./languages";

export type Messages = typeof en;

/**
 * The messages of the language in use, settled before any other code is loaded (see index.ts of the page), so that
 * they may be read at the top of a module.
 */
export let t: Messages = en;

/** A text of the server, such as the label of a column, in the language in use as far as it is known there. */
export function serverText(text: string): string {
  return t.server[text] ?? text;
}

export async function settleLanguage(): Promise<void> {
  if (pickLanguage(wantedLanguages()) === "en") return;
  try {
    t = (await import("./zh-CN")).zhCN;
  } catch {
    // Better in English than not at all.
  }
}
