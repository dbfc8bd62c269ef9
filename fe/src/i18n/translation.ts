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
  return (translation?.areas[name] as T | undefined) ?? english;
}

/** What the server says; null in English. */
export function serverMessages(): ServerMessages | null {
  return translation?.serverMessages ?? null;
}
