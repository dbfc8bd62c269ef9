import { t } from "../i18n";

/** The colour of a category of step time, the same in every view. */
export function categoryColor(category: string): string {
  return `var(--cat-${category})`;
}

/** What a category of step time is called. */
export function categoryName(category: string): string {
  const names: Readonly<Record<string, string>> = t.overview.categories;
  return names[category] ?? category;
}
