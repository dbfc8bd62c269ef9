import { describe, expect, it } from "vitest";
import type { Capture, Note } from "../../api";
import { optionRows } from "./options";
import { severities } from "./severities";
import { versionText } from "./versions";

const CAPTURE: Capture = {
  events: 10,
  bytes: 100,
  text_bytes: 1000,
  tracks: 1,
  recorded_at: null,
  duration_ns: 1,
  categories: [
    { category: "operator", events: 6 },
    { category: "user_annotation", events: 2 },
    { category: "memory", events: 2 },
  ],
  step_rule: "profiler_step",
  steps: 2,
  options: { record_shapes: null, with_stack: true, profile_memory: null, with_modules: true },
  found: { record_shapes: 0, with_stack: 0, profile_memory: 2 },
  versions: {},
  metadata: {},
  host_name: null,
  distributed: null,
  devices: [],
};

describe("options", () => {
  it("are judged by what is there first, and then by the header", () => {
    const rows = Object.fromEntries(optionRows(CAPTURE).map(({ id, state }) => [id, state]));
    expect(rows).toEqual({
      cpu: "found",
      device: "missing",
      steps: "found",
      record_shapes: "missing",
      with_stack: "empty",
      profile_memory: "found",
      with_modules: "found",
      with_flops: "missing",
    });
    expect(optionRows(CAPTURE)[0]?.events).toBe(8);
  });

  it("do not take the whole trace for a marked step", () => {
    const rows = optionRows({ ...CAPTURE, step_rule: "whole_trace", steps: 1 });
    expect(rows.find(({ id }) => id === "steps")?.state).toBe("missing");
  });
});

describe("versions", () => {
  it("are written as people write them", () => {
    expect(versionText("cuda_runtime_version", 12040)).toBe("12.4");
    expect(versionText("cuda_driver_version", 13000)).toBe("13.0");
    expect(versionText("cupti_version", 130000)).toBe("13.0");
    expect(versionText("cupti_version", 22)).toBe("22");
    expect(versionText("hip_runtime_version", 60443483)).toBe("6.4.43483");
    expect(versionText("hip_driver_version", 70226015)).toBe("7.2.26015");
    expect(versionText("roctracer_version", 4.1)).toBe("4.1");
    expect(versionText("mast_job_version", "0")).toBe("0");
    expect(versionText("any_version", null)).toBe("–");
  });
});

describe("severities", () => {
  it("counts notes, the worst first", () => {
    const notes = ["info", "error", "info"].map((severity) => ({ severity })) as Note[];
    expect(severities(notes)).toEqual([
      ["error", 1],
      ["info", 2],
    ]);
  });
});
