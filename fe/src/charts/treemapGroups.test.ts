import { expect, it } from "vitest";
import { treemapGroups } from "./treemapGroups";

const rest = (count: number) => `${count} more`;

it("puts parts together by their group, the largest first", () => {
  const groups = treemapGroups(
    [
      { group: "aten::relu", label: "10 B", value: 10 },
      { group: "aten::conv", label: "30 B", value: 30 },
      { group: "aten::relu", label: "25 B", value: 25 },
      { group: "aten::view", label: "0 B", value: 0 },
    ],
    rest,
  );
  expect(groups.map(({ label, items }) => [label, items.map(({ value }) => value)])).toEqual([
    ["aten::relu", [25, 10]],
    ["aten::conv", [30]],
  ]);
});

it("has the smallest of very many as one, so that nothing is missing", () => {
  const parts = Array.from({ length: 1000 }, (_, at) => ({ group: "a", label: "", value: at + 1 }));
  const groups = treemapGroups(parts, rest);
  expect(groups.map(({ label }) => label)).toEqual(["800 more", "a"]);
  const all = groups.flatMap(({ items }) => items).reduce((sum, { value }) => sum + value, 0);
  expect(all).toBe(500_500);
});
