/** The colours and names of phases. */
import type { Phase } from "../../api";
import { partColor } from "../../draw/parts";
import { program as text } from "../../i18n/en/program";

/** The part of a step that has the same colour. */
const LIKE: Readonly<Record<Phase, string>> = {
  data: "input",
  forward: "compute",
  loss: "norm",
  backward: "sync",
  recompute: "sync.relaunch",
  optimizer: "operator",
  zero_grad: "copy",
  validation: "dependency",
  logging: "python",
  schedule: "hand_over",
  prefill: "launch",
  decode: "compute",
  mixed: "launch_latency",
  draft: "dependency.communication",
  verify: "dependency",
  sample: "communication",
  encode: "launch",
  denoise: "compute",
  decode_image: "communication",
  compile: "compile",
  capture: "allocator",
  other: "unknown",
  no_launch: "profiler",
};

export const phaseColor = (phase: Phase) => partColor(LIKE[phase]);

export const phaseName = (phase: string): string =>
  (text.phases as Readonly<Record<string, string>>)[phase] ?? phase;
