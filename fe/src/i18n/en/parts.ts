import words from "../../../../torch_tb_profiler/words/en/parts.toml";
import { area } from "../translation";

/** Parts of a step, by the last word of their ids; what is alike has the same name everywhere. */
export const parts = area("parts", {
  ...words,
  ofKind: (part: string, kind: string) => `${part}: ${kind}`,

  /** What a program does, and how that is known. */
  phases: {
    data: "Data",
    forward: "Forward",
    loss: "Loss",
    backward: "Backward",
    recompute: "Recomputation",
    optimizer: "Optimizer",
    zero_grad: "Zeroing gradients",
    validation: "Validation",
    logging: "Logging",
    schedule: "Scheduling",
    prefill: "Prefill",
    decode: "Decode",
    mixed: "Prefill and decode",
    draft: "Draft",
    verify: "Verify",
    sample: "Sampling",
    encode: "Encoding the prompt",
    denoise: "Denoising",
    decode_image: "Decoding the image",
    compile: "Compiling",
    capture: "Capturing graphs",
    other: "Other",
    no_launch: "Without a launch",
  },
  evidence: {
    none: "not recorded",
    autograd: "an autograd node",
    torch: "a range of torch",
    named: "a named range",
    frame: "a Python frame",
    module: "a module",
    operators: "inferred from operators",
    backward_run: "inferred from a backward pass",
    optimizer_operators: "inferred from operators of an optimizer",
    no_numbers: "inferred from operators",
    other_thread: "inferred from another thread",
  },
});
