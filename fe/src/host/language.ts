/** In which language the user wants to read. */
import { read, write } from "./storage";

const KEY = "torch-tb-profiler.language";

/** What was chosen here, then what the browser says, the most wanted first. */
export function wantedLanguages(): readonly string[] {
  const chosen = read("localStorage", KEY);
  const ofBrowser = navigator.languages ?? [navigator.language];
  return chosen === null ? ofBrowser : [chosen, ...ofBrowser];
}

export function rememberLanguage(language: string): void {
  write("localStorage", KEY, language);
}
