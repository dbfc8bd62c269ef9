/** What part of a trace is seen: a stretch of time across a width of pixels. Pure. */
import { NARROWEST_NS, type TimeWindow } from "../draw";

/** Times are ns since the start of the trace, plain numbers: exact up to 104 days. */
export interface Camera {
  readonly window: TimeWindow;
  /** Pixels of the page, above 0. */
  readonly width: number;
}

export function span({ start, end }: TimeWindow): number {
  return end - start;
}

export function xOf({ window, width }: Camera, time: number): number {
  return ((time - window.start) / span(window)) * width;
}

export function timeAt({ window, width }: Camera, x: number): number {
  return window.start + (x / width) * span(window);
}

/** ns that lie under one pixel of the page. */
export function nsPerPixel({ window, width }: Camera): number {
  return span(window) / width;
}

/** As wide as wanted where that is possible, moved and, if it must be, cut to lie inside of `whole`. */
export function clamped(wanted: TimeWindow, whole: TimeWindow): TimeWindow {
  const least = Math.min(NARROWEST_NS, span(whole));
  const width = Math.min(Math.max(span(wanted), least), span(whole));
  // A window that was too narrow grows around its middle.
  const start = wanted.start - (width - Math.min(span(wanted), width)) / 2;
  const inside = Math.min(Math.max(start, whole.start), whole.end - width);
  return { start: inside, end: inside + width };
}

/** `factor` below 1 comes closer; what is at `x` stays there as far as the ends allow. */
export function zoomed(camera: Camera, factor: number, x: number, whole: TimeWindow): TimeWindow {
  const { window } = camera;
  const at = timeAt(camera, x);
  // The narrowest window must not slip sideways when it is narrowed further.
  const width = Math.min(
    Math.max(span(window) * factor, Math.min(NARROWEST_NS, span(whole))),
    span(whole),
  );
  const real = width / span(window);
  return clamped(
    { start: at - (at - window.start) * real, end: at + (window.end - at) * real },
    whole,
  );
}

/** Moved to the right by a distance in pixels. */
export function panned(camera: Camera, pixels: number, whole: TimeWindow): TimeWindow {
  const by = pixels * nsPerPixel(camera);
  return clamped({ start: camera.window.start + by, end: camera.window.end + by }, whole);
}

/** Around something, with a margin on each side that is a share of it. */
export function fitted(what: TimeWindow, margin: number, whole: TimeWindow): TimeWindow {
  const around = Math.max(span(what), NARROWEST_NS) * margin;
  return clamped({ start: what.start - around, end: what.end + around }, whole);
}

/** The same window where `what` is in sight, else moved so that it is in the middle; as wide as before unless it is too narrow. */
export function showing(window: TimeWindow, what: TimeWindow, whole: TimeWindow): TimeWindow {
  if (what.start >= window.start && what.end <= window.end) return window;
  if (span(what) > span(window) * 0.9) return fitted(what, 0.1, whole);
  const middle = (what.start + what.end) / 2;
  return clamped({ start: middle - span(window) / 2, end: middle + span(window) / 2 }, whole);
}

/** The time among `edges` (sorted) that is nearest to `time`, if it is no farther than `reach`. */
export function snapped(time: number, edges: readonly number[], reach: number): number {
  let best = time;
  let distance = reach;
  for (const edge of edges) {
    if (Math.abs(edge - time) <= distance) {
      best = edge;
      distance = Math.abs(edge - time);
    }
  }
  return best;
}

/** Both ends whole nanoseconds, and in order. */
export function whole({ start, end }: TimeWindow): TimeWindow {
  const [from, to] = start <= end ? [start, end] : [end, start];
  return { start: Math.floor(from), end: Math.ceil(to) };
}

/** Whether two windows are written in the address as the same: in whole ns, from the start of the trace on. */
export function sameTimes(a: TimeWindow, b: TimeWindow): boolean {
  const start = (window: TimeWindow) => Math.max(0, Math.floor(window.start));
  return start(a) === start(b) && Math.ceil(a.end) === Math.ceil(b.end);
}
