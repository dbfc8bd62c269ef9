import { expect, it } from "vitest";
import { counted } from "./counted";

it("says one and many", () => {
  expect(counted(1, "step")).toBe("1 step");
  expect(counted("1", "entry", "entries")).toBe("1 entry");
  expect(counted("1,024", "step")).toBe("1,024 steps");
  expect(counted(0, "entry", "entries")).toBe("0 entries");
});
