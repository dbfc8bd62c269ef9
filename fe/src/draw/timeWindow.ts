/** A stretch of time on an axis, in ns since the start of the trace. Pure. */
export interface TimeWindow {
  readonly start: number;
  readonly end: number;
}

/** Narrower than this there is nothing to see: times are whole nanoseconds. */
export const NARROWEST_NS = 10;

/** `12500000-13100000`, the form in the address. */
export function formatWindow({ start, end }: TimeWindow): string {
  return `${start}-${end}`;
}

export function parseWindow(text: string): TimeWindow | null {
  const match = /^(\d{1,15})-(\d{1,15})$/.exec(text);
  if (!match) return null;
  const window = { start: Number(match[1]), end: Number(match[2]) };
  return window.start < window.end ? window : null;
}

export function span({ start, end }: TimeWindow): number {
  return end - start;
}

export function contains({ start, end }: TimeWindow, time: number): boolean {
  return start <= time && time <= end;
}

/** In whole nanoseconds, not too narrow, and inside `whole`; null when it is all of it or nothing of it. */
export function within(wanted: TimeWindow, whole: TimeWindow): TimeWindow | null {
  if (wanted.end <= whole.start || wanted.start >= whole.end) return null;
  const from = Math.max(wanted.start, whole.start);
  const width = Math.min(
    Math.max(Math.min(wanted.end, whole.end) - from, NARROWEST_NS),
    span(whole),
  );
  const start = Math.floor(Math.min(from, whole.end - width));
  const end = Math.min(whole.end, Math.ceil(Math.max(start, from) + width));
  return start <= whole.start && end >= whole.end ? null : { start, end };
}

/** `factor` times as wide, with `around` where it was. */
export function scaled(window: TimeWindow, factor: number, around: number): TimeWindow {
  return {
    start: around - (around - window.start) * factor,
    end: around + (window.end - around) * factor,
  };
}

/** Moved by a share of its width, but not out of `whole`. */
export function moved(window: TimeWindow, share: number, whole: TimeWindow): TimeWindow {
  const wanted = span(window) * share;
  const by = Math.max(whole.start - window.start, Math.min(whole.end - window.end, wanted));
  return { start: window.start + by, end: window.end + by };
}

export function middle({ start, end }: TimeWindow): number {
  return (start + end) / 2;
}

/** Which of the moments, in order, is the last one up to a time; -1 before all of them. */
export function lastUpTo(moments: readonly number[], time: number): number {
  let [low, high] = [0, moments.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((moments[middle] ?? 0) <= time) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
