import { expect, it, vi } from "vitest";
import { goToView } from "../../state";
import { doorToMost } from "./showInTrace";

vi.mock("../../state", () => ({ goToView: vi.fn() }));

const ROWS = { row: [7, 8, 9, -1], gap_ns: [10, null, 30, 0], phase: ["a", "b", "b", "a"] };

it("leads from a number to the event of the row that has most of it", () => {
  doorToMost(ROWS, "gap_ns")?.();
  const [view, , look] = vi.mocked(goToView).mock.lastCall ?? [];
  expect(view).toBe("trace");
  expect(look).toMatchObject({ event: { type: "row", row: 9 } });
  doorToMost(ROWS, "gap_ns", (row) => ROWS.phase[row] === "a")?.();
  expect(vi.mocked(goToView).mock.lastCall?.[2]).toMatchObject({ event: { row: 7 } });
});

it("leads nowhere where no row has any of it, or the row has no event", () => {
  expect(doorToMost(ROWS, "gap_ns", (row) => row === 3)).toBeUndefined();
  expect(doorToMost({ row: [-1], gap_ns: [5] }, "gap_ns")).toBeUndefined();
  expect(doorToMost({}, "gap_ns")).toBeUndefined();
});
