import { area } from "../translation";

/** How much of the peak is used, in Overview and Roofline. */
export const utilization = area("utilization", {
  mfu: "MFU",
  mfuHelp:
    "Model FLOP utilization: FLOP that the model needs ÷ peak of their element types ÷ time of the steps ÷ devices.",
  hfu: "HFU",
  hfuHelp: "Hardware FLOP utilization: the same for all executed FLOP, including recomputation.",
  busy: "MFU while computing",
  busyHelp: "The same while a compute kernel runs: slow kernels lower it, an idle device does not.",
  perStep: "FLOP per step",
  perStepHelp: "Matrix FLOP that the model needs in the average step.",
  products: "Matmuls known",
  productsHelp: "Time of products whose FLOP are known ÷ time of all products.",
  bytes: "Bytes known",
  bytesHelp: "Share of the time of kernels, copies and fills whose minimum bytes are known.",
  coverage: (known: string) => `${known} of matmuls known`,
  range: (low: string, high: string) => `${low} to ${high}`,
  atLeast: (value: string) => `≥ ${value}`,
  notKnown: "unknown",
  executed: (flop: string) => `${flop} executed`,
  estimated: (share: string) => `and ${share} estimated`,
});
