/** FLOP, MFU and time below the roofline; see docs/api.md, /api/flops. */
import { type Result, useTraceQuery } from "./queries";
import type { FlopsAnswer } from "./schema.gen";
import type { TraceKey } from "./types";

export type Flops = FlopsAnswer;
export type Utilization = FlopsAnswer["mfu"];

export function useFlops(sel: TraceKey | null): Result<Flops> {
  return useTraceQuery("flops", sel, {});
}
