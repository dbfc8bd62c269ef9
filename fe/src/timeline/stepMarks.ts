/** Which marks of steps are drawn. */
import { type Camera, nsPerPixel } from "./camera";

/** Pixels; of steps that are all nearer to each other, marks would be one grey field. */
const LEAST_GAP = 6;

/** The starts in the window, ascending as they are given, that are so far from the one before or behind that a mark tells. */
export function marksApart(starts: readonly number[], camera: Camera): number[] {
  const { window } = camera;
  const gap = LEAST_GAP * nsPerPixel(camera);
  const found: number[] = [];
  for (const [i, at] of starts.entries()) {
    if (at < window.start) continue;
    if (at > window.end) break;
    const before = at - (starts[i - 1] ?? Number.NEGATIVE_INFINITY);
    const behind = (starts[i + 1] ?? Number.POSITIVE_INFINITY) - at;
    if (Math.max(before, behind) >= gap) found.push(at);
  }
  return found;
}
