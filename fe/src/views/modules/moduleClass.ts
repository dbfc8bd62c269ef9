/** `Linear_3` → `Linear`. */
export function moduleClass(name: string): string {
  return name.replace(/_\d+$/, "");
}
