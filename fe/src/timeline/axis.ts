/** The head of the timeline: times, names of steps, how long the marked range is. */
import { timeAxis } from "../draw";
import { duration } from "../format";
import { type Camera, span, xOf } from "./camera";
import type { Colors } from "./colors";
import type { Flags, Mark } from "./scene";
import { marksApart } from "./stepMarks";

const FONT_SIZE = 11;
/** Pixels that a label of the axis needs. */
const PER_TICK = 110;
const STEP_ROW = 14;

export function paintAxis(
  context: CanvasRenderingContext2D,
  camera: Camera,
  height: number,
  colors: Colors,
  steps: readonly { readonly name: string; readonly start: number }[],
  mark: Mark | null,
): void {
  context.fillStyle = colors.surface;
  context.fillRect(0, 0, camera.width, height);
  context.font = `${FONT_SIZE}px ${colors.font}`;
  context.textAlign = "left";
  const axis = timeAxis(camera.window, Math.max(2, camera.width / PER_TICK));
  for (const tick of axis.ticks) {
    const x = Math.round(xOf(camera, tick));
    context.fillStyle = colors.border;
    context.fillRect(x, STEP_ROW + 2, 1, height - STEP_ROW);
  }
  const starts = steps.map(({ start }) => start);
  const marked = new Set(marksApart(starts, camera));
  let behind = -1;
  for (const { name, start } of steps) {
    const x = Math.round(xOf(camera, start));
    if (x > camera.width) break;
    if (x < 0) continue;
    context.fillStyle = colors.muted;
    if (marked.has(start)) context.fillRect(x, 0, 1, height);
    // Names that would lie over each other are left out. What has a name has a mark beside it.
    if (x < behind) continue;
    const text = name.length > 24 ? `${name.slice(0, 23)}…` : name;
    const end = x + 4 + context.measureText(text).width;
    if (end > camera.width && x > 0) continue;
    context.fillRect(x, 0, 1, STEP_ROW);
    context.fillText(text, x + 4, STEP_ROW - 3);
    behind = end + 4;
  }
  for (const tick of axis.ticks) {
    const x = Math.round(xOf(camera, tick)) + 4;
    const text = axis.label(tick);
    const { width } = context.measureText(text);
    if (x + width > camera.width) continue;
    // The mark of a step must not run through the digits.
    context.fillStyle = colors.surface;
    context.fillRect(x - 1, height - 5 - FONT_SIZE, width + 2, FONT_SIZE);
    context.fillStyle = colors.text2;
    context.fillText(text, x, height - 6);
  }
  if (mark) paintMarkHead(context, camera, height, colors, mark);
}

/** Pixels; small, for the digits of the axis stand above. Of flags nearer to each other than half of it one is drawn. */
const FLAG = 6;

/** A flag for each moment, that of the current one last, so that none lies over it. */
export function paintFlagHeads(
  context: CanvasRenderingContext2D,
  camera: Camera,
  height: number,
  colors: Colors,
  flags: Flags | null,
): void {
  if (!flags) return;
  const paint = (start: number, color: string) => {
    const x = Math.round(xOf(camera, start));
    if (x < -FLAG || x > camera.width) return;
    context.fillStyle = color;
    context.beginPath();
    context.moveTo(x, height - FLAG);
    context.lineTo(x + FLAG, height - FLAG / 2);
    context.lineTo(x, height);
    context.fill();
  };
  let last = Number.NEGATIVE_INFINITY;
  for (const { start } of flags.windows) {
    const x = xOf(camera, start);
    if (x < last + FLAG / 2) continue;
    last = x;
    paint(start, colors.danger);
  }
  const current = flags.windows[flags.current];
  if (current) paint(current.start, colors.accent);
}

function paintMarkHead(
  context: CanvasRenderingContext2D,
  camera: Camera,
  height: number,
  colors: Colors,
  { window }: Mark,
): void {
  const x0 = Math.max(0, xOf(camera, window.start));
  const x1 = Math.min(camera.width, xOf(camera, window.end));
  if (x1 < 0 || x0 > camera.width) return;
  const text = duration(span(window));
  const wide = context.measureText(text).width + 10;
  const middle = Math.min(Math.max((x0 + x1) / 2, wide / 2), camera.width - wide / 2);
  context.fillStyle = colors.accent;
  context.fillRect(x0, height - 3, Math.max(1, x1 - x0), 3);
  context.fillStyle = colors.accentSoft;
  context.fillRect(middle - wide / 2, 0, wide, STEP_ROW + 1);
  context.fillStyle = colors.accent;
  context.textAlign = "center";
  context.fillText(text, middle, STEP_ROW - 3);
  context.textAlign = "left";
}
