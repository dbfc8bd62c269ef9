import { numberAt, type Rows } from "../../table";

/** Kernel time by use of tensor cores. */
export interface TensorTime {
  readonly using: number;
  readonly notUsing: number;
  readonly unknown: number;
}

/** Over all kernels, weighted by their total time. */
export function tensorTime(rows: Rows): TensorTime {
  let using = 0;
  let notUsing = 0;
  let unknown = 0;
  const used = rows.tensor_cores_used ?? [];
  for (let row = 0; row < (rows.total_ns?.length ?? 0); row++) {
    const time = numberAt(rows, "total_ns", row) ?? 0;
    if (used[row] === true) using += time;
    else if (used[row] === false) notUsing += time;
    else unknown += time;
  }
  return { using, notUsing, unknown };
}
