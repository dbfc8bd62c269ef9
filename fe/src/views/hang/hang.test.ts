import { expect, it } from "vitest";
import { runStatus, traceStatus } from "../../api/cases";
import { isOf, shownView } from "../../shell/presence";
import { together, waitsData } from "./waits";

const wait = (rank: number, ...on: number[]) => ({
  rank,
  for: on,
  call: `all_reduce #${on.length > 0 ? 7 : 5}`,
  group: "default_pg",
  line: "train.py:9",
});
const named = (rank: number, kind: "host_stopped" | "deadlock") => ({
  rank,
  kind,
  call: "all_reduce #7",
  group: "default_pg",
  line: null,
  evidence: "",
});
const answer = (waits: ReturnType<typeof wait>[], stopped: ReturnType<typeof named>[]) => ({
  report: {
    schema: "hang/1.0",
    answer: "yes" as const,
    sentence: "",
    ranks: 4,
    dumps: 4,
    groups: [],
    left_out: [],
    waits,
    named: stopped,
  },
  others: [],
});

it("ranks in one place share a box, and lines lead to whoever stopped", () => {
  const all = together(answer([wait(0, 2), wait(1, 2), wait(3, 0)], [named(2, "host_stopped")]));
  expect(all.map(({ ranks }) => ranks)).toEqual([[2], [0, 1], [3]]);
  const { boxes, lines } = waitsData(all, 9);
  expect(boxes.map(({ column, isNamed }) => [column, isNamed])).toEqual([
    [0, true],
    [1, false],
    [2, false],
  ]);
  expect(lines).toEqual([
    { from: 1, to: 0 },
    { from: 2, to: 1 },
  ]);
});

it("a circle stands in one column, and who waits for it beside it", () => {
  const stopped = [named(0, "deadlock"), named(1, "deadlock")];
  const { boxes, lines } = waitsData(
    together(answer([wait(0, 1), wait(1, 0), wait(2, 0, 1)], stopped)),
    9,
  );
  expect(boxes.map(({ column }) => column)).toEqual([0, 0, 1]);
  expect(lines).toHaveLength(4);
});

it("says how many boxes are not drawn, and draws no line to them", () => {
  const all = together(answer([wait(0, 2), wait(3, 0)], [named(2, "host_stopped")]));
  const { boxes, lines, left } = waitsData(all, 2);
  expect([boxes.length, lines.length, left]).toEqual([2, 1, 1]);
});

it("is offered where there are dumps, alone where there is nothing else", () => {
  const hung = { ...runStatus("hung"), dumps: 4 };
  expect([isOf("hang", null, hung), isOf("overview", null, hung)]).toEqual([true, false]);
  expect(shownView("overview", null, hung)).toBe("hang");
  const trace = traceStatus();
  expect(isOf("hang", trace, runStatus("r", trace))).toBe(false);
  expect(isOf("hang", trace, { ...runStatus("r", trace), dumps: 4 })).toBe(true);
  expect(shownView("overview", trace, { ...runStatus("r", trace), dumps: 4 })).toBe("overview");
});
