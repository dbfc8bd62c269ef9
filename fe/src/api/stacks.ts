/** Time by call stack; see docs/api.md, /api/stacks. */
import { useTraceQuery } from "./queries";
import type { Meta, Nanoseconds, Table, TraceKey } from "./types";

export type StackWeight = "device" | "host";
export type StackDirection = "top_down" | "bottom_up";
export type StackKind =
  | "frame"
  | "builtin"
  | "module"
  | "annotation"
  | "operator"
  | "device"
  | "other"
  | "smaller";

export interface StackRows {
  id: number[];
  /** A row, -1 at the top. */
  parent: number[];
  name: string[];
  kind: StackKind[];
  self_ns: Nanoseconds[];
  total_ns: Nanoseconds[];
  calls: number[];
  folded: number[];
}

export interface StacksMeta extends Meta {
  weight: StackWeight;
  weights: StackWeight[];
  direction: StackDirection;
  files: string;
  root: number;
  /** Time of what is shown, and of everything. */
  whole_ns: Nanoseconds;
  all_ns: Nanoseconds;
  no_stack_ns: Nanoseconds;
  entries: number;
  /** Entries with less are folded together. */
  limit_ns: Nanoseconds;
  has_frames: boolean;
  /** From the top down to what is around `root`; null when that is everything. */
  above: StackRows | null;
}

export interface StacksTable extends Omit<Table<StacksMeta>, "rows"> {
  rows: StackRows;
}

export interface StackQuestion {
  /** The server's choice, when left out. */
  weight?: StackWeight | undefined;
  direction: StackDirection;
  files: string;
  /** Id of the entry to show with all its details; 0 for everything. */
  root: number;
}

export function useStacks(sel: TraceKey | null, question: StackQuestion) {
  return useTraceQuery<StacksTable>("stacks", sel, {
    weight: question.weight,
    direction: question.direction,
    files: question.files || undefined,
    root: question.root || undefined,
  });
}
