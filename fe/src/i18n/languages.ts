/** The languages there are, by their own names. Pure. */
export const LANGUAGES = { en: "English", "zh-CN": "简体中文" } as const;

export type LanguageId = keyof typeof LANGUAGES;

/** The first wanted one that there is. Whoever reads any Chinese reads the one we have. */
export function pickLanguage(wanted: readonly string[]): LanguageId {
  for (const tag of wanted) {
    if (/^zh\b/i.test(tag)) return "zh-CN";
    if (/^en\b/i.test(tag)) return "en";
  }
  return "en";
}
