/** /api/run_findings: what bounds a run of several ranks, and what its rules find. */
import { useQuery } from "@tanstack/react-query";
import { type ApiError, get } from "./client";
import { stateOfSpan } from "./distributed";
import { LOADING_MS } from "./poll";
import { type Result, useStatus } from "./queries";
import type { RunFindingsAnswer } from "./schema.gen";

export type RunFindings = RunFindingsAnswer;

export function useRunFindings(run: string | null, span: string | null): Result<RunFindings> {
  const status = useStatus().data;
  const known = run !== null && span !== null;
  return useQuery<RunFindings, ApiError>({
    queryKey: ["run", run, span, "run_findings", known ? stateOfSpan(status, run, span) : ""],
    queryFn: ({ signal }) => get("run_findings", { run, span }, signal),
    enabled: known && status !== undefined,
    refetchInterval: (query) => (query.state.error?.loading ? LOADING_MS : false),
  });
}
