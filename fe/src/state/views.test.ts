import { expect, it } from "vitest";
import { VIEW_GROUPS, VIEW_IDS } from "./views";

it("every view is in one group, in the order of the number keys", () => {
  expect(VIEW_GROUPS.flatMap(({ views }) => views)).toEqual([...VIEW_IDS]);
});
