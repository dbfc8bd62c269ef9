/** Arrows between slices, from where one lane is drawn to where another one is. */
import { type Camera, xOf } from "./camera";
import type { Colors } from "./colors";
import type { Written } from "./text";

/** Times of the page, ns; heights in pixels from the top of all rows. */
export interface Flow {
  readonly kind: string;
  readonly from: { readonly time: number; readonly y: number };
  readonly to: { readonly time: number; readonly y: number };
}

export interface Arrow {
  readonly kind: string;
  readonly x0: number;
  readonly y0: number;
  readonly x1: number;
  readonly y1: number;
}

/** More would be a grey area, and slow. */
const MOST = 3_000;

/** Those of which a part can be in sight. */
export function arrowsOf(flows: readonly Flow[], camera: Camera): Arrow[] {
  const arrows: Arrow[] = [];
  for (const { kind, from, to } of flows) {
    const [x0, x1] = [xOf(camera, from.time), xOf(camera, to.time)];
    if (Math.max(x0, x1) < 0 || Math.min(x0, x1) > camera.width) continue;
    arrows.push({ kind, x0, y0: from.y, x1, y1: to.y });
    if (arrows.length === MOST) break;
  }
  return arrows;
}

const HEAD = 5;

export function paintArrows(
  context: CanvasRenderingContext2D,
  arrows: readonly Arrow[],
  colors: Colors,
  top: number,
  /** What must stay readable. */
  written: readonly Written[],
): void {
  if (arrows.length === 0) return;
  context.save();
  keepOff(context, arrows, top, written);
  context.lineWidth = 1.2;
  context.globalAlpha = arrows.length > 60 ? 0.45 : 0.9;
  for (const { kind, x0, y0, x1, y1 } of arrows) {
    const color = kind === "forward_backward" ? colors.danger : colors.accent;
    context.strokeStyle = color;
    context.fillStyle = color;
    context.setLineDash(kind === "collective" ? [4, 3] : []);
    const [a, b] = [y0 - top, y1 - top];
    const bend = Math.max(12, Math.min(60, Math.abs(x1 - x0) / 2));
    context.beginPath();
    context.moveTo(x0, a);
    context.bezierCurveTo(x0 + bend, a, x1 - bend, b, x1, b);
    context.stroke();
    if (kind === "collective") continue;
    context.beginPath();
    context.moveTo(x1, b);
    context.lineTo(x1 - HEAD, b - HEAD / 2);
    context.lineTo(x1 - HEAD, b + HEAD / 2);
    context.fill();
  }
  context.restore();
}

/** Nothing is drawn on these places until the context is restored. */
function keepOff(
  context: CanvasRenderingContext2D,
  arrows: readonly Arrow[],
  top: number,
  written: readonly Written[],
): void {
  const heights = arrows.flatMap(({ y0, y1 }) => [y0, y1]);
  const [first, last] = [Math.min(...heights) - top, Math.max(...heights) - top];
  const near = written.filter(({ y, height }) => y <= last && y + height >= first);
  if (near.length === 0) return;
  const { width, height } = context.canvas;
  context.beginPath();
  context.rect(0, 0, width, height);
  for (const box of near) context.rect(box.x, box.y, box.width, box.height);
  context.clip("evenodd");
}
