/** `/api/hang`: why a job hangs, from the dumps in the folder of a run. */
import { get } from "./client";
import { type Result, useAnswer } from "./queries";
import type { Answers } from "./schema.gen";
import type { RunStatus } from "./types";

export type Hang = Answers["hang"];

export function useHang(run: RunStatus | null): Result<Hang> {
  // Another number of dumps is another report.
  return useAnswer(
    ["hang", run?.name, run?.dumps],
    (signal) => get("hang", { run: run?.name }, signal),
    { enabled: run !== null },
  );
}
