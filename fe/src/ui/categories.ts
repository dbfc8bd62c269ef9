/** The colour of a category of step time, the same in every view. */
export function categoryColor(category: string): string {
  return `var(--cat-${category})`;
}
