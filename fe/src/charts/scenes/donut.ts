/** A ring of slices. Pure. */
import { filled, type Mark, type Picture, type SceneTheme, type Shape } from "../scene";

interface Sector {
  /** What it has of the whole; 0 is not drawn. */
  readonly value: number;
  readonly color: string;
}

const EDGE = 4;
/** Of the hole, as a share of the ring. */
const HOLE = 0.6;

export function donutPicture(
  sectors: readonly Sector[],
  theme: SceneTheme,
  width: number,
  height: number,
): Picture {
  const total = sectors.reduce((sum, { value }) => sum + value, 0);
  const outer = Math.max(1, Math.min(width, height) / 2 - EDGE);
  const ring = { x: width / 2, y: height / 2, inner: outer * HOLE, outer };
  const shapes: Shape[] = [];
  const marks: (Mark | null)[] = [];
  const ends: number[] = [];
  let from = 0;
  sectors.forEach(({ value, color }, index) => {
    const to = from + (total > 0 ? value / total : 0);
    ends.push(to);
    if (to <= from) marks.push(null);
    else {
      const outline = sectorPath(ring, from, to);
      const border = { stroke: theme.surface, width: 1 };
      shapes.push({ kind: "path", d: outline, ...filled(theme, color, index), ...border });
      const middle = pointOn(ring, (ring.inner + outer) / 2, (from + to) / 2);
      marks.push({ outline, ...middle });
    }
    from = to;
  });
  const at = (x: number, y: number) => {
    const distance = Math.hypot(x - ring.x, y - ring.y);
    if (distance < ring.inner || distance > outer) return null;
    const turn = (Math.atan2(x - ring.x, ring.y - y) / (2 * Math.PI) + 1) % 1;
    const found = ends.findIndex((end) => turn < end);
    return found < 0 ? null : found;
  };
  return { shapes, marks, at };
}

interface Ring {
  readonly x: number;
  readonly y: number;
  readonly inner: number;
  readonly outer: number;
}

/** A place on a circle; `turn` 0 is at the top, 0.25 at the right. */
function pointOn({ x, y }: Ring, radius: number, turn: number) {
  const angle = turn * 2 * Math.PI;
  return { x: x + radius * Math.sin(angle), y: y - radius * Math.cos(angle) };
}

function sectorPath(ring: Ring, from: number, to: number): string {
  // An arc that ends where it begins is none: a whole ring is a little less.
  const end = Math.min(to, from + 0.99999);
  const large = end - from > 0.5 ? 1 : 0;
  const point = (radius: number, turn: number) => {
    const { x, y } = pointOn(ring, radius, turn);
    return `${x.toFixed(2)} ${y.toFixed(2)}`;
  };
  const { inner, outer } = ring;
  return [
    `M${point(outer, from)}A${outer} ${outer} 0 ${large} 1 ${point(outer, end)}`,
    `L${point(inner, end)}A${inner} ${inner} 0 ${large} 0 ${point(inner, from)}Z`,
  ].join("");
}
