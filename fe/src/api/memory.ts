/** Memory: how much, when, and what held it. Shapes of docs/api.md, and their hooks. */
import { type Result, useTraceQuery } from "./queries";
import type {
  Answers,
  DeviceMemory,
  MemoryAliveAnswer,
  MemoryChange,
  MemoryCurveAnswer,
  MemoryInUse,
} from "./schema.gen";
import type { Nanoseconds, TraceKey } from "./types";

export type MemoryAt = MemoryInUse;
export type MemoryCurves = MemoryCurveAnswer;
export type MemoryOperatorsTable = Answers["memory/operators"];
export type MemoryEventsTable = Answers["memory/events"];
export type MemoryAliveTable = MemoryAliveAnswer;
export type { DeviceMemory, MemoryChange };

/** Both ends included; null for everything. */
export interface MemoryRange {
  start: Nanoseconds;
  end: Nanoseconds;
}

/** What its ends are called in a question. */
export function memoryEnds(range: MemoryRange | null) {
  return { start_ns: range?.start, end_ns: range?.end };
}

export function useMemoryCurves(
  sel: TraceKey | null,
  range: MemoryRange | null = null,
): Result<MemoryCurves> {
  return useTraceQuery("memory/curve", sel, memoryEnds(range));
}
