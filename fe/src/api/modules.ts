/** Modules and Lightning's hooks; see docs/api.md, /api/modules. */
import { useTraceQuery } from "./queries";
import type { Column, Meta, Table, TraceKey } from "./types";

export type ModuleSource = "nn" | "lightning";

export interface ModulesMeta extends Meta {
  source: ModuleSource;
  /** Who named modules in this trace. */
  sources: ModuleSource[];
  total: number;
}

export interface ModulesTable extends Table<ModulesMeta> {
  hooks: { columns: Column[]; rows: Table["rows"] } | null;
}

/** Without a source those of the first there is. */
export function useModules(sel: TraceKey | null, source?: ModuleSource) {
  return useTraceQuery<ModulesTable>("modules", sel, { source });
}
