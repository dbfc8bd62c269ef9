import { expect, it } from "vitest";
import { inSentence } from "./names";

it("leaves the middle of a long name out of a sentence, and no half of a character", () => {
  const shown = inSentence(`begin${"😀".repeat(50_000)}end`);
  expect(shown).toMatch(/^begin.*….*end$/u);
  expect(shown.length).toBeLessThan(310);
  expect(shown).not.toMatch(/\p{Cs}/u);
});

it("keeps a name that is read from the right apart from the numbers beside it", () => {
  expect(inSentence("שלום 12")).toBe("\u2068שלום 12\u2069");
  expect(inSentence("aten::mm")).toBe("aten::mm");
});
