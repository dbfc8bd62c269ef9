import type { ServerMessages } from "./values";

export interface Translation {
  /** Texts of areas, by their names. */
  readonly areas: Readonly<Record<string, unknown>>;
  readonly serverMessages: ServerMessages;
}

/** In another language than English, what is not needed at once; null in English. */
let translation: Translation | null = null;

/** To be set before any area is loaded. */
export function setTranslation(texts: Translation): void {
  translation = texts;
}

/** The texts of an area in the language in use. Areas come with the code that shows them: a view brings its own. */
export function area<T>(name: string, english: T): T {
  return bare((translation?.areas[name] as T | undefined) ?? english);
}

/** Without what every object has, in place: a table by what a file or an address says has nothing for `constructor`. */
export function bare<T>(texts: T): T {
  if (typeof texts !== "object" || texts === null || Array.isArray(texts)) return texts;
  for (const inner of Object.values(texts)) bare(inner);
  return Object.setPrototypeOf(texts, null);
}

/** Texts by words of which a language may have others. */
export function byWord<T>(texts: Readonly<Record<string, T>>): Readonly<Record<string, T>> {
  return texts;
}

/** The text for a word that comes from a file or an address. */
export function textFor<T>(texts: Readonly<Record<string, T>>, word: string): T | undefined {
  return texts[word];
}

/** What the server says; null in English. */
export function serverMessages(): ServerMessages | null {
  return translation?.serverMessages ?? null;
}
