/** The critical path, and what changes would save; see docs/api.md, /api/critical_path and /api/what_if. */
import { type Result, useTraceQuery } from "./queries";
import type { CriticalPathAnswer, WhatIfAnswer } from "./schema.gen";
import type { TraceKey } from "./types";

export type CriticalPath = CriticalPathAnswer;
export type ReplayMeta = CriticalPathAnswer["meta"];
export type ResourceOnPath = CriticalPathAnswer["resources"][number];
export type ResourceId = ResourceOnPath["resource"];
export type Saved = NonNullable<ResourceOnPath["if_free"]>;
export type NameOnPath = CriticalPathAnswer["operators"][number];
export type WhatIf = WhatIfAnswer;

export function useCriticalPath(sel: TraceKey | null): Result<CriticalPath> {
  return useTraceQuery("critical_path", sel);
}

/** `changes` as the server reads them: `data:0,kernels:0.8`. */
export function useWhatIf(sel: TraceKey | null, changes: string): Result<WhatIf> {
  return useTraceQuery("what_if", sel, { changes: changes || undefined });
}
