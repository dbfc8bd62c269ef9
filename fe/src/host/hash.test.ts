import { describe, expect, it } from "vitest";
import { formatHash, formatHostHash, parseHash, parseHostHash } from "./hash";

describe("stand-alone hash", () => {
  it("reads back what it writes", () => {
    const params = { v: "operators", q: "a&b=c #1 %", sel: "op:aten::conv2d", r: "läufe/1" };
    const hash = formatHash(params);
    expect(parseHash(hash, "")).toEqual(params);
    expect(hash).toContain("sel=op:aten::conv2d");
  });

  it("writes half a character as one that is unknown", () => {
    expect(parseHash(formatHash({ q: "a\ud800b" }), "")).toEqual({ q: "a\ufffdb" });
  });

  it("is empty without parameters, and survives broken encoding", () => {
    expect(formatHash({})).toBe("");
    expect(parseHash("#v=%E0%A4%A&novalue&=x", "")).toEqual({ v: "%E0%A4%A" });
  });
});

describe("hash of TensorBoard", () => {
  const HASH = "#pytorch_profiler&p.pytorch_profiler.v=kernels&tagFilter=loss&p.other.v=1";

  it("holds our parameters among others", () => {
    expect(parseHostHash(HASH)).toEqual({ v: "kernels" });
  });

  it("is changed in our parameters only", () => {
    expect(formatHostHash(HASH, { q: "conv" })).toBe(
      "#pytorch_profiler&tagFilter=loss&p.other.v=1&p.pytorch_profiler.q=conv",
    );
  });

  it("names our tab when it names none, and leaves another tab alone", () => {
    expect(formatHostHash("", { q: "x" })).toBe("#pytorch_profiler&p.pytorch_profiler.q=x");
    expect(formatHostHash("#scalars", { q: "x" })).toBe("#scalars&p.pytorch_profiler.q=x");
  });
});
