/** Time by call stack; see docs/api.md, /api/stacks. */
import { type Result, useTraceQuery } from "./queries";
import type { StacksAnswer } from "./schema.gen";
import type { Nanoseconds, TraceKey } from "./types";

export type StackWeight = StacksAnswer["meta"]["weight"];
type StackDirection = StacksAnswer["meta"]["direction"];
export type StackKind = StacksAnswer["meta"]["kinds"][number];
type StackRole = StacksAnswer["meta"]["roles"][number];

/** The rows of the answer, each column with the type of its cells. */
export interface StackRows {
  id: number[];
  /** A row, -1 at the top. */
  parent: number[];
  name: string[];
  kind: StackKind[];
  /** Of device work, and of calls of torch.distributed on the host. */
  role: (StackRole | null)[];
  /** Of device work; null for the rest. */
  short_name: (string | null)[];
  self_ns: Nanoseconds[];
  total_ns: Nanoseconds[];
  calls: number[];
  folded: number[];
}

export interface StacksTable extends Omit<StacksAnswer, "rows" | "meta"> {
  rows: StackRows;
  meta: Omit<StacksAnswer["meta"], "above"> & { above: StackRows | null };
}

export interface StackQuestion {
  /** The server's choice, when left out. */
  weight?: StackWeight | undefined;
  direction: StackDirection;
  files: string;
  /** Autograd nodes stand below the operator that they are the backward of. */
  withForward?: boolean;
  /** Id of the only thread; empty for all. */
  thread: string;
  /** Id of the entry to show with all its details; 0 for everything. */
  root: number;
}

export function useStacks(sel: TraceKey | null, question: StackQuestion): Result<StacksTable> {
  return useTraceQuery("stacks", sel, {
    weight: question.weight,
    direction: question.direction,
    files: question.files || undefined,
    root: question.root || undefined,
    thread: question.thread || undefined,
    backward: question.withForward ? "with_forward" : undefined,
  }) as Result<unknown> as Result<StacksTable>;
}
