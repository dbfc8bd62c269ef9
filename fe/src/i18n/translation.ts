/** Texts of areas in another language than English, all of them fetched at once; null in English. */
let translation: Readonly<Record<string, unknown>> | null = null;

/** To be set before any area is loaded. */
export function setTranslation(texts: Readonly<Record<string, unknown>>): void {
  translation = texts;
}

/** The texts of an area in the language in use. Areas come with the code that shows them: a view brings its own. */
export function area<T>(name: string, english: T): T {
  return (translation?.[name] as T | undefined) ?? english;
}
