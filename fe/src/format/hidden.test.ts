import { describe, expect, it } from "vitest";
import { onOneLine, original, parseVisible, visible } from "./hidden";

/** What is hidden, and how it is shown. */
const SHOWN: readonly (readonly [name: string, shown: string])[] = [
  ["abc\u202e321", "abc{U+202E}321"],
  ["\u2066isolated\u2069", "{U+2066}isolated{U+2069}"],
  ["zero\u200bwidth\ufeff\u00ad\u2060\u3164", "zero{U+200B}width{U+FEFF}{U+00AD}{U+2060}{U+3164}"],
  ["nbsp\u00a0here\u2003", "nbsp{U+00A0}here{U+2003}"],
  ["\x00\x1b[31m\x07\r\x7f\x9b", "{U+0000}{U+001B}[31m{U+0007}{U+000D}{U+007F}{U+009B}"],
  ["line\u2028separator\u2029", "line{U+2028}separator{U+2029}"],
  ["\uffff\ufdd0\u{e0041}", "{U+FFFF}{U+FDD0}{U+E0041}"],
  ["written {U+202E}", "written {U+007B}U+202E}"],
  ["a\u200d\u{1f469}\u200d", "a{U+200D}\u{1f469}{U+200D}"],
];

describe("what is hidden in a name", () => {
  it.each(SHOWN)("%j is seen", (name, shown) => {
    expect(visible(name)).toBe(shown);
    expect(original(shown)).toBe(name);
    // Once only: an address may hold either.
    expect(visible(original(shown))).toBe(shown);
  });

  it("half a character is shown, and never sent: no address may hold it", () => {
    expect(visible("lone\ud800high")).toBe("lone{U+D800}high");
    expect(original("lone{U+D800}high")).toBe("lone{U+D800}high");
    expect(() => encodeURIComponent(original(visible("\udfff\ud800")))).not.toThrow();
  });

  it.each([
    "aten::mm",
    "C:\\users\\u0041 \\u",
    "\u05e9\u05dc\u05d5\u05dd",
    "caf\u00e9 cafe\u0301",
    "\u77e9\u9635\u3000\u4e58",
    "\u{1f469}\u{1f3fd}\u200d\u{1f4bb} \u2764\ufe0f",
    "two\nlines\tand a tab",
    "{U+0041} {U+110000} {u+202e} {U+}",
  ])("%j is as it is, but for the beginning of an escape", (name) => {
    expect(visible(name)).toBe(name.replaceAll("{U+", "{U+007B}U+"));
    expect(original(visible(name))).toBe(name);
  });

  it("is no more in an answer, neither in its values nor in its keys", () => {
    const value = { rows: { "a\u202e": ["b\u200b", 1, null, true] }, plain: "\u00e9" };
    const shown = { rows: { "a{U+202E}": ["b{U+200B}", 1, null, true] }, plain: "\u00e9" };
    expect(parseVisible(JSON.stringify(value))).toEqual(shown);
    expect(
      parseVisible('{"rows":{"a\\u202e":["b\\u200b",1,null,true]},"plain":"\\u00e9"}'),
    ).toEqual(shown);
    expect(Object.keys(parseVisible('{"__proto__":"\\u0000"}') as object)).toEqual(["__proto__"]);
  });

  it("is a blank that HTML would drop", () => {
    expect(["trailing ", " ", "a  b", "a b", "line\nbreak", "tab\there"].map(onOneLine)).toEqual([
      "trailing␣",
      "␣",
      "a␣␣b",
      "a b",
      "line↵break",
      "tab⇥here",
    ]);
  });
});
