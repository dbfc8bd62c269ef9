import { describe, expect, it } from "vitest";
import { type Entry, type EntryKind, fitness, lettersOf, search, wordsOf } from "./search";

function entry(kind: EntryKind, label: string, about: string = kind): Entry {
  return { kind, label, about, first: kind === "view", run: () => {} };
}

describe("how well a word fits", () => {
  it("the whole, then a word, then beginnings, then a part, then letters", () => {
    const names = ["mm", "aten::mm", "mmbackward0", "x::mmback", "aten::addmm", "aten::max_min"];
    const scores = names.map((text) => fitness(text, "mm"));
    expect(scores.every((score) => score !== null)).toBe(true);
    expect(scores).toEqual(scores.toSorted((a, b) => (b ?? 0) - (a ?? 0)));
    expect(new Set(scores).size).toBe(scores.length);
  });

  it("finds initials, and letters close together", () => {
    expect(fitness("aten::cudnn_batch_norm", "cbn")).not.toBeNull();
    expect(fitness("gpu kernel", "gk")).not.toBeNull();
    expect(fitness("overview", "ovw")).not.toBeNull();
  });

  it("does not find letters all over a long name", () => {
    const name = "void cutlass::kernel<cutlass_80_tensorop_s16816gemm_bf16_128x128_32x5_nn_align8>";
    expect(fitness(name, "vgn")).toBeNull();
    expect(fitness("overview", "w")).toBe(40);
    expect(fitness("overview", "x")).toBeNull();
    expect(fitness("aten::mm", "mma")).toBeNull();
  });
});

describe("search", () => {
  const ENTRIES = [
    entry("view", "GPU Kernel", "view"),
    entry("view", "Memory", "view"),
    entry("run", "resnet50_nw4"),
    entry("op", "aten::conv2d", "operator"),
    entry("op", "aten::convolution", "operator"),
    entry("kernel", "volta_scudnn_conv_128x64_relu", "kernel"),
  ];
  const labels = (query: string, most = 10) =>
    search(ENTRIES, query, most).entries.map(({ label }) => label);

  it("keeps the server's order among equals", () => {
    expect(labels("conv").slice(0, 2)).toEqual(["aten::conv2d", "aten::convolution"]);
    expect(labels("CONV")).toHaveLength(3);
  });

  it("wants all words, the kind counts as one", () => {
    expect(labels("kernel conv")).toEqual(["volta_scudnn_conv_128x64_relu"]);
    expect(labels("conv nothing")).toEqual([]);
  });

  it("puts what the words name before what they only describe", () => {
    expect(labels("kernel")[0]).toBe("GPU Kernel");
  });

  it("offers a first choice before anything is typed, and says how many there are", () => {
    expect(labels(" ")).toEqual(["GPU Kernel", "Memory"]);
    const found = search(ENTRIES, "e", 2);
    expect(found.entries).toHaveLength(2);
    expect(found.total).toBe(6);
  });

  it("finds one of 50,000 names", () => {
    const many = Array.from({ length: 50_000 }, (_, at) =>
      entry("kernel", `void at::native::vectorized_elementwise_kernel<4, Functor${at}>(int)`),
    );
    expect(search(many, "functor49999 kernel", 50).entries).toEqual([many[49_999]]);
  });
});

describe("the letters that a name is found by", () => {
  const marked = (label: string, query: string) => {
    const letters = lettersOf(label, wordsOf(query));
    return Array.from(label, (sign, at) => (letters.has(at) ? `[${sign}]` : sign)).join("");
  };

  it("are those of the best place, or scattered ones", () => {
    expect(marked("aten::mm", "MM")).toBe("aten::[m][m]");
    expect(marked("aten::addmm_mm", "mm")).toBe("aten::addmm_[m][m]");
    expect(marked("cudnn_batch_norm", "cbn")).toBe("[c]udnn_[b]atch_[n]orm");
  });

  it("are of each word that is in the name, and of no other", () => {
    expect(marked("aten::mm", "operator mm aten")).toBe("[a][t][e][n]::[m][m]");
    expect(marked("aten::mm", "")).toBe("aten::mm");
  });
});
