/** Memory: how much, when, and what held it. Shapes of docs/api.md, and their hooks. */
import type { Query } from "./client";
import { type Result, useTraceQuery } from "./queries";
import type { Bytes, Meta, Nanoseconds, Table, TraceKey } from "./types";

export interface MemoryAt {
  time_ns: Nanoseconds;
  allocated: Bytes;
  reserved: Bytes;
}

/** A step function in pieces: each begins at its time and holds until the next. Parallel arrays. */
export interface DeviceMemory {
  device: string;
  records: number;
  /** Of the whole trace and of the range asked about, both from all records. */
  peak: MemoryAt;
  peak_in_range: MemoryAt;
  /** Until the first piece. */
  before: { allocated: Bytes; reserved: Bytes };
  /** What the device has; null where the trace does not say and on the CPU. */
  device_bytes: Bytes | null;
  /** In use before the first record of the trace. */
  baseline: Bytes;
  unrecorded: Bytes;
  time_ns: Nanoseconds[];
  allocated_min: Bytes[];
  allocated_max: Bytes[];
  allocated: Bytes[];
  reserved_max: Bytes[];
  reserved: Bytes[];
}

export interface MemoryMeta extends Meta {
  /** With memory records, accelerators first. */
  devices: string[];
}

export interface MemoryCurves {
  meta: MemoryMeta;
  start_ns: Nanoseconds;
  end_ns: Nanoseconds;
  /** Empty when the trace has no totals; a note says why. */
  devices: DeviceMemory[];
}

export interface MemoryChange {
  size_increase: Bytes;
  allocation_count: number;
  allocation_size: Bytes;
}

export interface MemoryOperatorsMeta extends MemoryMeta {
  device: string | null;
  total: number;
  /** What happened outside of operators, and everything; missing without records. */
  unattributed?: MemoryChange;
  all?: MemoryChange;
}

export interface MemoryEventsMeta extends MemoryMeta {
  total: number;
}

export interface MemoryAliveMeta extends MemoryMeta {
  device: string | null;
  total: number;
  /** Missing without records. */
  at?: MemoryAt;
  known_bytes?: Bytes;
  /** Allocated before the recording; known + unknown = at.allocated. */
  unknown_bytes?: Bytes;
}

export type MemoryOperatorsTable = Table<MemoryOperatorsMeta>;
export type MemoryEventsTable = Table<MemoryEventsMeta>;
export type MemoryAliveTable = Table<MemoryAliveMeta>;

/** Both ends included; null for everything. */
export interface MemoryRange {
  start: Nanoseconds;
  end: Nanoseconds;
}

function ends(range: MemoryRange | null) {
  return { start_ns: range?.start, end_ns: range?.end };
}

export function useMemoryCurves(
  sel: TraceKey | null,
  range: MemoryRange | null = null,
): Result<MemoryCurves> {
  return useTraceQuery("memory/curve", sel, ends(range));
}

/** Without a device nothing is asked: it is not known yet. */
export function useMemoryOperators(
  sel: TraceKey | null,
  device: string | null,
  range: MemoryRange | null,
): Result<MemoryOperatorsTable> {
  const query = memoryTableQuery(device, range);
  return useTraceQuery("memory/operators", device === null ? null : sel, query);
}

export function useMemoryEvents(
  sel: TraceKey | null,
  device: string | null,
  range: MemoryRange | null,
): Result<MemoryEventsTable> {
  const query = memoryTableQuery(device, range);
  return useTraceQuery("memory/events", device === null ? null : sel, query);
}

/** What their tables are asked for. */
export function memoryTableQuery(device: string | null, range: MemoryRange | null): Query {
  return { device, ...ends(range) };
}

/** Without a time: at the peak. */
export function useMemoryAlive(
  sel: TraceKey | null,
  device: string | null,
  at: Nanoseconds | null,
  limit: number,
): Result<MemoryAliveTable> {
  return useTraceQuery("memory/alive", device === null ? null : sel, { device, at_ns: at, limit });
}
