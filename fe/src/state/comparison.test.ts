import { describe, expect, it } from "vitest";
import type { Status, TraceStatus } from "../api";
import { runStatus as run, statusOf as status, traceStatus } from "../api/cases";
import {
  baselineKey,
  counterpart,
  findTrace,
  formatTraceName,
  NO_COMPARISON,
  parseTraceName,
  resolveComparison,
  type TraceName,
} from "./comparison";

function trace(worker: string, span = "1", more: Partial<TraceStatus> = {}): TraceStatus {
  return traceStatus({ worker, span, file: `${worker}.${span}.json`, ...more });
}

const at = (name: string, worker: string, span = "1"): TraceName => ({ run: name, worker, span });
const suggested = (of: Status, current: TraceName) => {
  const { suggested: found } = resolveComparison(of, current, null, null).comparison;
  return found && [found.why, ...Object.values(found.name)].join(" ");
};

describe("a trace in the address", () => {
  it.each([at("resnet50_nw0", "0"), at("a~b%7Ec", "100%", "~"), at("runs/ä b", "%25", "2021-01")])(
    "is %o and back",
    (name) => {
      const text = formatTraceName(name);
      expect(text.split("~")).toHaveLength(3);
      expect(parseTraceName(text)).toEqual(name);
    },
  );

  it("may leave worker and span to us", () => {
    expect(formatTraceName(at("r~1", "w"))).toBe("r%7E1~w~1");
    expect(parseTraceName("r%7e1")).toEqual({ run: "r~1", worker: null, span: null });
    expect(parseTraceName("")).toBeNull();
    expect(parseTraceName("~w")).toBeNull();
    const runs = [run("r", trace("w", "1", { state: "failed" }), trace("w", "2"))];
    expect(findTrace(runs, { run: "r", worker: null, span: null })?.name.span).toBe("2");
    expect(findTrace(runs, { run: "r", worker: "w", span: "1" })?.name.span).toBe("1");
    expect(findTrace(runs, { run: "r", worker: "x", span: null })).toBeNull();
  });
});

describe("the suggested baseline", () => {
  /** With `equal` of 16 hashes as `FULL` has them. */
  const like = (equal: number) => ({ program: "0001".repeat(equal) + "ffff".repeat(16 - equal) });
  const own = like(16);

  it("is the same worker in the run that is most alike, the nearest before of several", () => {
    const runs = status(
      run("run1", trace("w0", "1", like(15)), trace("w1", "1", own)),
      run("run2", trace("w0", "1", like(9)), trace("w1", "1", own), trace("w1", "2", own)),
      run("run10", trace("w0", "1", own), trace("w1", "2", own)),
    );
    expect(suggested(runs, at("run10", "w1", "2"))).toBe("run run2 w1 2");
    expect(suggested(runs, at("run10", "w0"))).toBe("run run1 w0 1");
  });

  it("skips runs that could not be read or have another worker", () => {
    const runs = status(
      run("a", trace("w0")),
      run("b", trace("w0", "1", { state: "failed" })),
      run("c", trace("x"), trace("y")),
      run("d", trace("w0"), trace("w1")),
    );
    expect(suggested(runs, at("d", "w0"))).toBe("run a w0 1");
  });

  it("goes by rank, or by the only worker, where names are of processes", () => {
    const ranked = status(
      run("a", trace("host_1", "1", { rank: 1 }), trace("host_9", "1", { rank: 0 })),
      run("b", trace("host_5", "1", { rank: 0 }), trace("host_6", "1", { rank: 1 })),
    );
    expect(suggested(ranked, at("b", "host_6"))).toBe("run a host_1 1");
    const single = status(run("a", trace("vm_1")), run("b", trace("vm_2")));
    expect(suggested(single, at("b", "vm_2"))).toBe("run a vm_1 1");
  });

  it("is another run, a span, another worker, or anything, in this order", () => {
    const spans = [trace("w", "1"), trace("w", "2"), trace("w", "3")];
    expect(suggested(status(run("a", ...spans)), at("a", "w", "3"))).toBe("span a w 2");
    expect(suggested(status(run("a", ...spans), run("b", trace("w"))), at("a", "w", "3"))).toBe(
      "run b w 1",
    );
    expect(suggested(status(run("a", ...spans)), at("a", "w", "1"))).toBe("span a w 2");
    expect(suggested(status(run("a", trace("w0"), trace("w1"))), at("a", "w0"))).toBe(
      "worker a w1 1",
    );
    const strangers = status(run("a", trace("x"), trace("y")), run("b", trace("p"), trace("q")));
    expect(suggested(strangers, at("b", "p"))).toBe("worker b q 1");
    expect(
      suggested(status(run("a", trace("x"), trace("y")), run("b", trace("p"))), at("b", "p")),
    ).toBe("other a x 1");
  });

  it("ran the same program on the same device, or there is none", () => {
    const gpu = { views: ["overview", "kernels"], devices: ["H100"] };
    const runs = (...more: Partial<TraceStatus>[]) =>
      status(
        run("a", trace("w", "1", { ...gpu, ...own })),
        ...more.map((each, n) => run(`b${n}`, trace("w", "1", { ...gpu, ...own, ...each }))),
      );
    const none = [like(7), { views: ["overview"] }, { devices: ["A100"] }];
    for (const each of none) expect(suggested(runs(each), at("a", "w"))).toBeNull();
    expect(suggested(runs(...none, { state: "loading" }), at("a", "w"))).toBeNull();
    expect(suggested(runs(...none, like(8)), at("a", "w"))).toBe("run b3 w 1");
  });

  it("is nothing where there is nothing else", () => {
    const failed = trace("v", "1", { state: "failed" });
    expect(suggested(status(run("a", trace("w"))), at("a", "w"))).toBeNull();
    expect(suggested(status(run("a", trace("w"), failed)), at("a", "w"))).toBeNull();
  });

  it("stays while more runs appear, and not when it is gone", () => {
    const before = status(run("run1", trace("w")), run("run3", trace("w")));
    const current = at("run3", "w");
    const first = resolveComparison(before, current, null, null).comparison.suggested;
    const more = status(run("run1", trace("w")), run("run2", trace("w")), run("run3", trace("w")));
    const again = resolveComparison(more, current, null, first).comparison.suggested;
    expect(again?.name.run).toBe("run1");
    const less = status(run("run2", trace("w")), run("run3", trace("w")));
    expect(resolveComparison(less, current, null, first).comparison.suggested?.name.run).toBe(
      "run2",
    );
  });

  it("among 1,024 ranks is the one of the same rank", () => {
    const ranks = (prefix: string) =>
      Array.from({ length: 1024 }, (_, rank) => trace(`${prefix}${rank}`, "1", { rank }));
    const many = status(run("a", ...ranks("x")), run("b", ...ranks("y")));
    expect(suggested(many, at("b", "y1000"))).toBe("run a x1000 1");
  });
});

describe("a comparison that is set", () => {
  const runs = status(run("a", trace("w")), run("b", trace("w")));

  it("is what the address names, also when it is the trace itself", () => {
    const { comparison, dropped } = resolveComparison(runs, at("b", "w"), "b~w~1", null);
    expect(comparison.set?.name).toEqual(at("b", "w"));
    expect(comparison.suggested?.name).toEqual(at("a", "w"));
    expect(dropped).toEqual([]);
  });

  it("is given up, and said so, when it does not exist", () => {
    const { comparison, dropped } = resolveComparison(runs, at("b", "w"), "<b>~w~1", null);
    expect(comparison.set).toBeNull();
    expect(dropped).toEqual([{ kind: "baseline", value: "<b>~w~1" }]);
  });

  it("is nothing without runs", () => {
    expect(resolveComparison(status(), null, null, null)).toEqual({
      comparison: NO_COMPARISON,
      dropped: [],
    });
  });

  it("is asked for with the same choice of steps", () => {
    const sel = { ...at("b", "w"), steps: "whole_trace" };
    expect(baselineKey(at("a", "w"), sel)).toEqual({ ...at("a", "w"), steps: "whole_trace" });
    expect(baselineKey(at("a", "w"), at("b", "w"))).toEqual(at("a", "w"));
  });
});

it("finds the counterpart in a run that was picked", () => {
  const picked = run("b", trace("w0", "1"), trace("w1", "1"), trace("w1", "2"));
  expect(counterpart(picked, trace("w1", "2"))?.name).toEqual(at("b", "w1", "2"));
  expect(counterpart(picked, trace("w1", "7"))?.name).toEqual(at("b", "w1", "2"));
  expect(counterpart(picked, trace("other"))?.name.run).toBe("b");
  expect(counterpart(run("empty"), trace("w"))).toBeNull();
});
