/** The critical path, and what changes would save; see docs/api.md, /api/critical_path and /api/what_if. */
import type { CriticalPathAnswer, WhatIfAnswer } from "./schema.gen";

export type CriticalPath = CriticalPathAnswer;
export type ReplayMeta = CriticalPathAnswer["meta"];
export type ResourceOnPath = CriticalPathAnswer["resources"][number];
export type ResourceId = ResourceOnPath["resource"];
export type Saved = NonNullable<ResourceOnPath["if_free"]>;
export type NameOnPath = CriticalPathAnswer["operators"][number];
export type WhatIf = WhatIfAnswer;
