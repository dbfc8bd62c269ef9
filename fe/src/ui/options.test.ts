import { describe, expect, it } from "vitest";
import { matching, move } from "./options";

describe("combo box", () => {
  const options = ["rank 1", "rank 10", "Rank 2"].map((label) => ({ value: label, label }));

  it("matches all words in any case", () => {
    expect(matching(options, "1 RANK").map((o) => o.label)).toEqual(["rank 1", "rank 10"]);
    expect(matching(options, " ")).toHaveLength(3);
    const short = [{ value: "k", label: "gemm<float>", title: "void at::gemm<128, float>(int)" }];
    expect(matching(short, "at::gemm<128")).toEqual(short);
  });

  it("moves around the list", () => {
    expect(move("ArrowDown", 2, 3)).toBe(0);
    expect(move("ArrowUp", 0, 3)).toBe(2);
    expect(move("PageDown", 0, 3)).toBe(2);
    expect(move("x", 0, 3)).toBeNull();
    expect(move("End", 0, 0)).toBeNull();
  });
});
