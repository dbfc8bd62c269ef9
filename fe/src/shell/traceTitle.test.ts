import { expect, it } from "vitest";
import type { Status } from "../api";
import { traceTitle } from "./traceTitle";

function status(...traces: [worker: string, span: string][]): Status {
  return {
    runs: [{ name: "run", traces: traces.map(([worker, span]) => ({ worker, span })) }],
  } as unknown as Status;
}

it("says no more of a trace than tells it apart", () => {
  const name = { run: "run", worker: "rank1", span: "2" };
  expect(traceTitle(status(["rank1", "2"]), name)).toBe("run");
  expect(traceTitle(status(["rank0", "2"], ["rank1", "2"]), name)).toBe("run · rank1");
  expect(traceTitle(status(["rank1", "1"], ["rank1", "2"]), name)).toBe("run · span 2");
  expect(traceTitle(status(["rank0", "1"], ["rank1", "1"], ["rank1", "2"]), name)).toBe(
    "run · rank1 · span 2",
  );
  expect(traceTitle(undefined, name)).toBe("run");
});
