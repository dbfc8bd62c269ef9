import { expect, it } from "vitest";
import { JUMP_KEYS, VIEW_GROUPS, VIEW_IDS } from "./views";

it("every view is in one group, in the order of the number keys", () => {
  expect(VIEW_GROUPS.flatMap(({ views }) => views)).toEqual([...VIEW_IDS]);
});

it("every view has a letter of its own", () => {
  const letters = VIEW_IDS.map((id) => JUMP_KEYS[id]);
  expect(new Set(letters).size).toBe(VIEW_IDS.length);
  expect(letters.every((letter) => /^[a-z]$/.test(letter))).toBe(true);
  // The second g of an impatient finger must not lead anywhere.
  expect(letters).not.toContain("g");
});
