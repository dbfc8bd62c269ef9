/** The trace file itself and its longest slices. */
import { addressOf, getBinary, requestPath } from "./client";
import { type Result, useTraceQuery } from "./queries";
import type { SlicesAnswer } from "./schema.gen";
import type { Nanoseconds, TraceKey } from "./types";

export type SlicesTable = SlicesAnswer;

interface SlicesQuery {
  name: string | null;
  category: string | null;
  start_ns: Nanoseconds | null;
  end_ns: Nanoseconds | null;
  offset: number;
  limit: number;
}

export function useSlices(sel: TraceKey | null, query: SlicesQuery): Result<SlicesTable> {
  // Fractions of a nanosecond come from averages, and the server takes whole ones.
  const whole = (time: number | null) => (time === null ? null : Math.round(time));
  return useTraceQuery("trace/slices", sel, {
    ...query,
    start_ns: whole(query.start_ns),
    end_ns: whole(query.end_ns),
  });
}

/** Where the file can be downloaded: as it is stored, and with counters of each GPU added. */
export function traceAddresses({ run, worker, span }: TraceKey): {
  stored: string;
  withCounters: string;
} {
  const query = { run, worker, span };
  return {
    stored: addressOf(requestPath("trace/download", query)),
    withCounters: addressOf(requestPath("trace", query).replace(/^api\//, "")),
  };
}

/** Where the server has a report of a trace. */
export function reportAddress({ run, worker, span }: TraceKey): string {
  return addressOf(requestPath("report", { run, worker, span }));
}

/** The events of a file of which a part lies between two times (ns since its start), for viewers. */
export function windowAddress(key: TraceKey, start: number, end: number): string {
  return addressOf(requestPath("trace/window", windowQuery(key, start, end)));
}

export function traceWindow(key: TraceKey, start: number, end: number): Promise<ArrayBuffer> {
  return getBinary("trace/window", windowQuery(key, start, end));
}

function windowQuery({ run, worker, span }: TraceKey, start: number, end: number) {
  return { run, worker, span, start_ns: Math.floor(start), end_ns: Math.ceil(end) };
}

/** The file as it is stored. */
export function storedTrace({ run, worker, span }: TraceKey): Promise<ArrayBuffer> {
  return getBinary("trace/download", { run, worker, span });
}
