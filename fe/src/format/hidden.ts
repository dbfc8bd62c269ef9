/**
 * Characters that nobody sees, or that change how their neighbours are seen, written as `{U+202E}`. Pure.
 *
 * Names come from files. On the page they have no control characters, marks of direction, characters without width,
 * spaces but the usual ones, nor halves of characters: two different names differ to the eye, and none changes what stands
 * beside it. `original` is the inverse of `visible`: requests, addresses and saved tables have the names of the file.
 */

/** What joins a sequence of emoji is no part of it; `{U+` itself is written `{U+007B}U+`. */
const HIDDEN =
  /(?![\t\n \u3000])(?!(?<=\p{Extended_Pictographic}|\p{Emoji_Modifier}|\ufe0f)\u200d\p{Extended_Pictographic}|(?<=\p{Extended_Pictographic})\ufe0f)[\p{Cc}\p{Cf}\p{Cs}\p{Z}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}\u2800]|\{(?=U\+)/gu;
const WRITTEN = /\{U\+([0-9A-F]{4,6})\}/g;
/** JSON in which nothing can be hidden has no such character, and none written by its number. */
const MAY_HIDE = new RegExp(`\\\\u|${HIDDEN.source}`, "u");
const BRACE = "{";

export function visible(text: string): string {
  return text.replace(HIDDEN, (hidden) => {
    const code = hidden.codePointAt(0)?.toString(16).toUpperCase() ?? "";
    return `{U+${code.padStart(4, "0")}}`;
  });
}

export function original(text: string): string {
  return text.replace(WRITTEN, (written, code: string) => {
    const point = Number.parseInt(code, 16);
    if (point > 0x10ffff || (point >= 0xd800 && point < 0xe000)) return written;
    const character = String.fromCodePoint(point);
    return character === BRACE || visible(character) === written ? character : written;
  });
}

/** Blanks that HTML would drop, and ends of lines, as signs: for names that stand alone. */
export function onOneLine(name: string): string {
  return name
    .replace(/^ +| +$| {2,}/g, (blanks) => "␣".repeat(blanks.length))
    .replaceAll("\n", "↵")
    .replaceAll("\t", "⇥");
}

/** The value of a JSON text; all texts in it, keys as well, are visible. */
export function parseVisible(json: string): unknown {
  const value: unknown = JSON.parse(json);
  return MAY_HIDE.test(json) ? throughout(value) : value;
}

function throughout(value: unknown): unknown {
  if (typeof value === "string") return visible(value);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(throughout);
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [visible(key), throughout(inner)]),
  );
}
