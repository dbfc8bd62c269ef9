/** What the time of a category of the steps was spent with; see docs/api.md, /api/category. */
import { type Result, useTraceQuery } from "./queries";
import type { CategoryAnswer } from "./schema.gen";
import type { TraceKey } from "./types";

export type CategoryTime = CategoryAnswer;
export type Category = CategoryAnswer["category"];

export function useCategory(sel: TraceKey | null, category: Category): Result<CategoryTime> {
  return useTraceQuery("category", sel, { category });
}

/** Calls of the device's API, by function and caller. */
export function useApiCalls(sel: TraceKey | null) {
  return useTraceQuery("api_calls", sel);
}
