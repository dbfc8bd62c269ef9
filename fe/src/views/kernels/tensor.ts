import type { KernelsMeta } from "../../api";

/** Time of compute kernels by use of tensor cores. */
export interface TensorTime {
  readonly using: number;
  readonly notUsing: number;
  readonly unknown: number;
}

type Times = Pick<KernelsMeta, "compute_ns" | "tensor_cores">;

/** Of all compute kernels, also of those that the answer does not list. */
export function tensorTime({ compute_ns, tensor_cores }: Times): TensorTime {
  const { yes, no, unknown } = tensor_cores;
  const of = (share: number | null) => (share ?? 0) * compute_ns;
  return { using: of(yes), notUsing: of(no), unknown: of(unknown) };
}
