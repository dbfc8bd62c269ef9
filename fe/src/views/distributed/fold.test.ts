import { expect, it } from "vitest";
import { fold } from "./fold";

it("makes one row of those that are alike, and keeps those that are not", () => {
  const rows = [
    { role: "pp", wait: 100 },
    { role: "tp", wait: 100 },
    { role: "pp", wait: 110 },
    { role: "pp", wait: 200 },
    { role: "pp", wait: 90 },
  ];
  const folded = fold(
    rows,
    ({ role }) => role,
    ({ wait }) => [wait],
  );
  expect(folded.map(({ row, count }) => [row.role, row.wait, count])).toEqual([
    ["pp", 100, 3],
    ["tp", 100, 1],
    ["pp", 200, 1],
  ]);
});
