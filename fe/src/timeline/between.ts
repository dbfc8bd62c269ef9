/** From one slice to another: how long it takes, as numbers and as two lines at the top of the picture. */
import { duration } from "../format";
import { timelineTexts as text } from "../i18n";
import { xOf } from "./camera";
import type { PickedSlice, Scene } from "./scene";

/** ns; negative where the second one comes first. */
export interface Between {
  readonly startToStart: number;
  /** From the end of the first to the start of the second: a gap, or less than 0 where they overlap. */
  readonly endToStart: number;
  readonly startToEnd: number;
  readonly endToEnd: number;
}

type Times = Pick<PickedSlice, "start" | "duration">;

export function between(from: Times, to: Times): Between {
  const [fromEnd, toEnd] = [from.start + from.duration, to.start + to.duration];
  return {
    startToStart: to.start - from.start,
    endToStart: to.start - fromEnd,
    startToEnd: toEnd - from.start,
    endToEnd: toEnd - fromEnd,
  };
}

/** A duration that may be negative. */
export function signed(ns: number): string {
  return ns < 0 ? `−${duration(-ns)}` : duration(ns);
}

export function isSameSlice(a: PickedSlice, b: PickedSlice): boolean {
  return a.row === b.row && a.worker === b.worker;
}

const FIRST = 9;
const NEXT = 16;
const TICK = 4;

export function paintBetween(context: CanvasRenderingContext2D, scene: Scene): void {
  const { from, selected, camera, colors, height } = scene;
  if (!from || !selected || isSameSlice(from, selected)) return;
  const found = between(from, selected);
  const lines = [
    { time: from.start, label: `${text.startToStart} ${signed(found.startToStart)}` },
    { time: from.start + from.duration, label: `${text.endToStart} ${signed(found.endToStart)}` },
  ];
  const end = xOf(camera, selected.start);
  context.strokeStyle = colors.accent;
  context.lineWidth = 1;
  context.globalAlpha = 0.5;
  for (const time of [from.start, from.start + from.duration, selected.start]) {
    const x = Math.round(xOf(camera, time)) + 0.5;
    context.beginPath();
    context.moveTo(x, 0);
    context.lineTo(x, height);
    context.stroke();
  }
  context.globalAlpha = 1;
  for (const [at, { time, label }] of lines.entries()) {
    const y = FIRST + at * NEXT;
    const begin = xOf(camera, time);
    context.beginPath();
    context.moveTo(begin, y);
    context.lineTo(end, y);
    for (const x of [begin, end]) {
      context.moveTo(x, y - TICK);
      context.lineTo(x, y + TICK);
    }
    context.stroke();
    // In sight, wherever the lines are.
    const width = context.measureText(label).width;
    const middle = (begin + end) / 2 - width / 2;
    const x = Math.min(Math.max(middle, 2), camera.width - width - 2);
    context.fillStyle = colors.surface;
    context.fillRect(x - 3, y - 7, width + 6, 14);
    context.fillStyle = colors.text;
    context.fillText(label, x, y + 4);
  }
}
