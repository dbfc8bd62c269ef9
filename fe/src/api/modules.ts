/** Modules and Lightning's hooks; see docs/api.md, /api/modules. */
import { useTraceQuery } from "./queries";
import type { ModulesAnswer } from "./schema.gen";
import type { TraceKey } from "./types";

export type ModulesTable = ModulesAnswer;
export type ModuleSource = ModulesAnswer["meta"]["source"];

/** Without a source those of the first there is. */
export function useModules(sel: TraceKey | null, source?: ModuleSource) {
  return useTraceQuery("modules", sel, { source });
}
