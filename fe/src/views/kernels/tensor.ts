import type { KernelsMeta } from "../../api";

/** Kernel time by use of tensor cores. */
export interface TensorTime {
  readonly using: number;
  readonly notUsing: number;
  readonly unknown: number;
}

type Times = Pick<KernelsMeta, "kernel_ns" | "tensor_core_ns" | "undecided_ns">;

/** Of all kernels, also of those that the answer does not list. */
export function tensorTime({ kernel_ns, tensor_core_ns, undecided_ns }: Times): TensorTime {
  const [using, unknown] = [tensor_core_ns, undecided_ns];
  return { using, notUsing: Math.max(0, kernel_ns - using - unknown), unknown };
}
