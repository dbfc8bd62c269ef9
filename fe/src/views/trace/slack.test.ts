import { describe, expect, it } from "vitest";
import { DERIVED, SLACK } from "./look";
import { SLACK_STEPS, slackAt, slackPosition } from "./slack";

describe("the slider of slack", () => {
  it("goes from 0 by way of 1 µs to the whole step", () => {
    expect(slackAt(0, 2e8)).toBe(0);
    expect(slackAt(1, 2e8)).toBe(1_000);
    expect(slackAt(SLACK_STEPS, 2e8)).toBe(2e8);
  });

  it.each([2e8, 5e3, 1e3, 0])("comes back to the same place, in a step of %s ns", (step) => {
    for (let position = 0; position <= SLACK_STEPS; position++) {
      const slack = slackAt(position, step);
      expect(slackAt(slackPosition(slack, step), step)).toBe(slack);
    }
  });

  it("stays within its ends, whatever the address says", () => {
    expect(slackPosition(1e15, 2e8)).toBe(SLACK_STEPS);
    expect(slackPosition(3, 2e8)).toBe(1);
  });
});

describe("in the address", () => {
  it.each([
    ["", null],
    ["0", 0],
    ["100000", 100_000],
    ["-1", null],
    ["x", null],
  ])("%j is a slack of %s", (text, slack) => {
    expect(SLACK.parse(text)).toBe(slack);
    expect(SLACK.parse(SLACK.format(SLACK.parse(text)))).toBe(slack);
  });

  it.each([
    ["", null],
    ["none", []],
    ["path", ["path"]],
    ["idle,path,moon", ["path", "idle"]],
    ["phases,idle", ["idle", "phases"]],
  ])("%j are lanes", (text, kinds) => {
    expect(DERIVED.parse(text)).toEqual(kinds);
    expect(DERIVED.parse(DERIVED.format(kinds as never))).toEqual(kinds);
  });
});
