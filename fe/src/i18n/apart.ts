/** Names that are read from the right, in sentences that are read from the left. Pure. */

const LETTER =
  "[\\p{Script=Hebrew}\\p{Script=Arabic}\\p{Script=Syriac}\\p{Script=Thaana}\\p{Script=Nko}]";
/** Words of such a script with what stands between them. */
const WORDS = new RegExp(`${LETTER}\\p{M}*(?:[\\p{L}\\p{M}\\p{N} _]*${LETTER}\\p{M}*)?`, "gu");

/** Isolated, so that the numbers and signs beside them keep their places. */
export function apart(text: string): string {
  return text.replace(WORDS, "\u2068$&\u2069");
}
