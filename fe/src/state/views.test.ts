import { expect, it } from "vitest";
import { PICKED_KINDS } from "./picked";
import { allViews, viewGroups } from "./views";

it("every group stands together, in the order of the number keys", () => {
  expect(viewGroups(allViews()).flatMap(({ views }) => views)).toEqual(allViews());
  expect(allViews().length).toBeGreaterThan(10);
});

it("every view has an id and a letter of its own", () => {
  const ids = allViews().map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  const letters = allViews().map(({ key }) => key);
  expect(new Set(letters).size).toBe(letters.length);
  expect(letters.every((letter) => /^[a-z]$/.test(letter))).toBe(true);
  // The second g of an impatient finger must not lead anywhere.
  expect(letters).not.toContain("g");
});

it("every kind of thing is at home in one view", () => {
  for (const kind of PICKED_KINDS) {
    expect(allViews().filter(({ inspector }) => inspector?.kind === kind)).toHaveLength(1);
  }
});
