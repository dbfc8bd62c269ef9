/** Stretches of time that the picture can show, ns of the page. Pure. */
import type { TimeWindow } from "../../draw";
import type { StepRange } from "../../state";
import type { RankTiles } from "../../timeline";

export interface Windows {
  /** All that can be seen. */
  readonly whole: TimeWindow;
  /** All that ran: what is seen where nothing else is wanted. */
  readonly work: TimeWindow;
  /** What is seen where the address names no window: the chosen steps, else all that ran. */
  readonly unasked: TimeWindow;
  readonly window: TimeWindow;
}

export function windowsOf(
  ranks: readonly RankTiles[],
  range: StepRange | null,
  wanted: TimeWindow | null,
): Windows {
  const whole = around(ranks.map((rank) => rank.whole));
  const work = around(ranks.map((rank) => rank.work));
  const unasked = stepsOf(ranks[0]?.meta.steps, range) ?? work;
  return { whole, work, unasked, window: wanted && wanted.start < wanted.end ? wanted : unasked };
}

function stepsOf(
  steps: RankTiles["meta"]["steps"] | undefined,
  range: StepRange | null,
): TimeWindow | null {
  const [first, last] = [range?.first ?? -1, range?.last ?? -1];
  const [start, end] = [steps?.start_ns[first], steps?.start_ns[last]];
  if (start === undefined || end === undefined) return null;
  return { start, end: end + (steps?.duration_ns[last] ?? 0) };
}

function around(windows: readonly TimeWindow[]): TimeWindow {
  if (windows.length === 0) return { start: 0, end: 1 };
  const start = Math.min(...windows.map((each) => each.start));
  return { start, end: Math.max(...windows.map((each) => each.end), start + 1) };
}
