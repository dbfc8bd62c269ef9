/**
 * A number with what is counted, in English: `1 step`, `1,024 steps`. `n` may be formatted. `more`: the plural, where
 * it is not the word with an s.
 */
export function counted(n: number | string, one: string, more = `${one}s`): string {
  return `${n} ${String(n) === "1" ? one : more}`;
}
