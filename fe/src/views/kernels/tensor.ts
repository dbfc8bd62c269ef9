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
  const { yes, no, unknown } = tensor_cores ?? { yes: 0, no: 0, unknown: 0 };
  return { using: yes * compute_ns, notUsing: no * compute_ns, unknown: unknown * compute_ns };
}
