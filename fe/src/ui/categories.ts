import type { Category } from "../api";

/** The colour of a category of step time, the same in every view. */
export function categoryColor(category: Category): string {
  return `var(--cat-${category})`;
}
