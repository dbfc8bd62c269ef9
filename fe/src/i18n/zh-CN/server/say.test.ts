import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Values } from "../../values";
import { type Section, type Sentence, say } from "./say";

interface Case {
  readonly sentence: Sentence;
  readonly section?: Section;
  readonly shared?: Section;
  readonly values: Values;
  readonly said: string | null;
}

const CASES: readonly Case[] = JSON.parse(readFileSync("../tests/cases/words.json", "utf8"));

describe("sentences of the server", () => {
  it.each(CASES)("are filled as the server fills them: $sentence", (one) => {
    const section = { it: one.sentence, ...one.section };
    expect(say(section, one.shared ?? {}, "it", one.values) ?? null).toBe(one.said);
  });

  it("have words of their own for how often something happens", () => {
    expect(say({ it: "{n:often}" }, {}, "it", { n: 18, steps: 6 })).toBe("每步 3 次");
  });

  it("have names of their own for the parts of a step", () => {
    expect(say({ it: "{cause:part}" }, {}, "it", { cause: "idle.sync" })).toBe("同步");
  });

  it("are not said with a format that does not exist", () => {
    expect(say({ it: "{n:furlongs}" }, {}, "it", { n: 18 })).toBeUndefined();
  });
});
