import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { partsTexts } from "../i18n";
import {
  kernelColor,
  operatorColor,
  PART_COLORS,
  partColor,
  partName,
  partNumber,
  partProperty,
  phasePart,
} from "./parts";

/** Ids as the server has them: parts of the critical path, and causes of `analysis/waterfall/causes.py`. */
const IDS = [
  ...["python", "operator", "data", "launch", "blocking", "allocator", "api", "collective"],
  ...["compute", "communication", "copy", "launch_latency", "device_gap", "dependency", "wake_up"],
  ...["hand_over", "unexplained", "fixed", "exposed_communication", "exposed_copy"],
  ...["idle.profiler", "idle.dependency", "idle.dependency.communication", "idle.launch_latency"],
  ...["idle.launch_latency.graph", "idle.sync", "idle.sync.relaunch", "idle.allocator"],
  ...["idle.input", "idle.compile", "idle.host.gc", "idle.slow_launch", "idle.host.launch"],
  ...["idle.host.api", "idle.host.operator", "idle.host.collective", "idle.host.python"],
  ...["idle.unknown", "host.data", "host.operator", "host.python", "host.sync"],
];

it("has a colour and a name for each part, and grey for what is not known alone", () => {
  const grey = partColor("idle.unknown");
  const unknown = IDS.filter((id) => partColor(id) === grey);
  expect(unknown).toEqual(["unexplained", "fixed", "idle.unknown"]);
  expect(IDS.filter((id) => partName(id) === id)).toEqual([]);
});

it("has a name and a colour for each phase of the program", () => {
  const phases = Object.keys(partsTexts.phases).map(phasePart);
  expect(phases.length).toBeGreaterThan(20);
  expect(phases.filter((id) => partName(id) === id)).toEqual([]);
  expect(partName("phase.backward")).toBe("Backward");
  expect(partName("phase.moon")).toBe("moon");
  const grey = partColor("idle.unknown");
  expect(phases.filter((id) => partColor(id) === grey)).toEqual(["phase.other"]);
  expect(partColor("phase.loss")).not.toBe(partColor("phase.forward"));
});

it("gives kernels the colour that their kind has among the parts of a step", () => {
  expect(kernelColor("communication")).toBe(partColor("exposed_communication"));
  expect(kernelColor("communication + norm")).toBe(partColor("communication"));
  expect(kernelColor("attention helper")).toBe(partColor("compute.attention_helper"));
  expect(kernelColor("norm + quantize")).toBe(partColor("compute.norm"));
  expect(kernelColor("gemv")).toBe(kernelColor("conv helper"));
  expect(kernelColor("sampler")).toBe(kernelColor(null));
  expect(kernelColor(null)).not.toBe(kernelColor("gemm"));
});

it("gives the colour of communication to nothing else", () => {
  expect(operatorColor(true)).toBe(partColor("communication"));
  expect(operatorColor(false)).toBeUndefined();
  const pink = partColor("communication");
  const phases = Object.keys(partsTexts.phases).map(phasePart);
  expect(phases.filter((id) => partColor(id) === pink)).toEqual([]);
});

it("takes the longest end of an id that is known, else what stands before it", () => {
  expect(partColor("idle.host.operator")).toBe(partColor("operator"));
  expect(partColor("idle.dependency.communication")).not.toBe(partColor("communication"));
  expect(partColor("idle.launch_latency.graph")).toBe(partColor("launch_latency"));
  expect(partColor("compute.sampler")).not.toBe(partColor("compute"));
  expect(partColor("compute.copy")).toBe(partColor("copy"));
  expect(partName("idle.host.python")).toBe(partsTexts.names["idle.host.python"]);
  expect(partName("moon.phase")).toBe("moon.phase");
  expect(partName("compute.unknown")).toBe("Computing: unknown kernels");
  expect(partName("compute.copy")).toBe("Computing: copy");
});

it("has a different colour for each of the ten causes of idle time", () => {
  const causes = [
    ...["profiler", "dependency", "launch_latency", "sync", "allocator", "input", "compile"],
    ...["host", "slow_launch", "unknown"],
  ];
  expect(new Set(causes.map((cause) => partColor(`idle.${cause}`))).size).toBe(10);
});

it("has each colour in the style sheet, light and dark", () => {
  const sheet = readFileSync("src/draw/parts.css", "utf8");
  for (const name of PART_COLORS)
    expect(sheet.split(`${partProperty(name)}:`).length - 1, name).toBe(2);
  expect(partNumber("idle.input")).toBe(PART_COLORS.indexOf("input"));
});
