import { readFileSync } from "node:fs";
import { afterEach, describe, expect, it, vi } from "vitest";
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

describe("what memory ran out of", () => {
  afterEach(() => vi.resetModules());

  it("is said of the fields of a struct, of those in it, and of the first of several", async () => {
    vi.resetModules();
    const { setTranslation } = await import("../../translation");
    setTranslation((await import("../views")).views);
    const { memoryText } = await import("../../serverMessages");
    const holders = [{ line: "a.py(1): f", bytes: 1 << 20, blocks: 3, segments: 2 }];
    const memory = {
      reason: "fragmented",
      free: 512,
      pieces: 2,
      largest: 256,
      in_use: 5,
      reserved: 6,
    };
    expect(memoryText("inferred_oom", "", { ...memory, holders })).toContain(
      "在 a.py(1): f 分配的 3 个块（1 MiB）使 2 个段无法归还设备。",
    );
    expect(memoryText("inferred_oom", "", { ...memory, holders: [] })).not.toContain("归还");
    const device = { peak_requested: null, requested: 5, reserved: 7, growth: { per_step: null } };
    expect(memoryText("device", "", device)).toContain("峰值未知");
    expect(memoryText("moon", "in the server's words", device)).toBe("in the server's words");
  });
});
