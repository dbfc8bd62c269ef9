import { rememberLanguage } from "../host";
import type { LanguageId } from "../i18n";
import { flushParams } from "../state";

/**
 * Texts are read when code is loaded, so another language means loading the page again. All that is on
 * the screen is in the address; what has not been written there yet is written first.
 */
export function switchLanguage(language: LanguageId): void {
  rememberLanguage(language);
  flushParams();
  location.reload();
}
