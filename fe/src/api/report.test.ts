import { afterEach, describe, expect, it } from "vitest";
import { get } from "./client";
import { knownAs, openReport } from "./report";

afterEach(() => openReport(null));

describe("a report", () => {
  it("knows a request by its route and its parameters, in whatever order", () => {
    const known = "operators\ngroup_by=name\nrun=a b&c\nworker=0";
    expect(knownAs("api/operators?worker=0&run=a+b%26c&group_by=name")).toBe(known);
    expect(knownAs("api/status")).toBe("status");
  });

  it("answers what it holds and says what it does not", async () => {
    openReport({
      made: "2026-01-01T00:00:00+00:00",
      answers: {
        "overview\nrun=a": [200, '{"x":1}'],
        "distributed\nrun=a": [404, '{"error":"no"}'],
      },
    });
    await expect(get("overview", { run: "a" })).resolves.toEqual({ x: 1 });
    await expect(get("distributed", { run: "a" })).rejects.toMatchObject({
      status: 404,
      message: "no",
    });
    await expect(get("overview", { run: "b" })).rejects.toMatchObject({ notInReport: true });
  });
});
