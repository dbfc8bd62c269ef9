/**
 * Work beside what a device can do: FLOP/s over FLOP/byte, both logarithmic, under roofs; beside it what multiplies
 * nothing, by its part of the roof. Pure.
 */
import { type Box, type Mark, type Picture, pixels, type SceneTheme, type Shape } from "../scene";

export interface RooflinePoint {
  /** FLOP/byte; null: it has no FLOP, or its bytes are not known. */
  readonly intensity: number | null;
  /** FLOP/s. */
  readonly rate: number | null;
  /** Time at the roof ÷ time. */
  readonly share: number | null;
  /** Part of the time of all points, 0…1. */
  readonly weight: number;
  readonly color: string;
  /** Drawn as a ring. */
  readonly hollow: boolean;
}

export interface Roof {
  readonly label: string;
  /** FLOP/s of a flat roof, bytes/s of one that rises. */
  readonly height: number;
  readonly kind: "flat" | "rising" | "link";
  /** What the trace itself comes to, below the peak of the same kind. */
  readonly reached?: boolean;
}

export interface RooflineData {
  readonly points: readonly RooflinePoint[];
  readonly roofs: readonly Roof[];
  readonly xLabel: string;
  readonly yLabel: string;
  readonly stripLabel: string;
  readonly rateLabel: (perSecond: number) => string;
}

export const ROOFLINE_HEIGHT = 420;
const LEFT = 88;
/** Half of the last number below the axis has room. */
const RIGHT = 24;
const TOP = 26;
const BOTTOM = 46;
const STRIP = 96;
const STRIP_GAP = 64;
const SMALLEST = 3;
const LARGEST = 17;
/** The strip ends a little above the roof. */
const STRIP_TOP = 1.2;
const POINTER = 4;
/** What the name of a roof needs. */
const LABEL = 200;
/** About how wide a letter is, and how far names stay apart. */
const LETTER = 6.5;
const APART = 16;
/** Where on a rising roof its name may stand, the best first. */
const PLACES = [0.5, 0.3, 0.7, 0.15];

type Spot = { readonly x: number; readonly y: number; readonly radius: number };

export function rooflinePicture(data: RooflineData, theme: SceneTheme, width: number): Picture {
  const strip = data.points.some(isBeside);
  // Without flat roofs and points an empty plane would say nothing: nothing tells how much it reaches over.
  const hasPlane =
    data.roofs.some(({ kind }) => kind === "flat") || data.points.some(isPlaced) || !strip;
  const plot: Box = {
    x: LEFT,
    y: TOP,
    width: Math.max(120, width - LEFT - RIGHT - (strip ? STRIP + STRIP_GAP : 0)),
    height: ROOFLINE_HEIGHT - TOP - BOTTOM,
  };
  const beside: Box = hasPlane
    ? { ...plot, x: plot.x + plot.width + STRIP_GAP, width: STRIP }
    : { ...plot, width: Math.max(STRIP, width - LEFT - RIGHT) };
  const x = logScale(
    rangeOf(
      data.points.map(({ intensity }) => intensity),
      ridges(data.roofs),
    ),
  );
  const heights = data.roofs.flatMap(({ kind, height }) => (kind === "flat" ? [height] : []));
  const y = logScale(
    rangeOf(
      data.points.map(({ rate }) => rate),
      heights,
    ),
  );
  const placeX = (value: number) => plot.x + x.at(value) * plot.width;
  const placeY = (value: number) => plot.y + (1 - y.at(value)) * plot.height;
  const plane: Plane = { plot, x, y, placeX, placeY, theme };
  const shapes: Shape[] = [
    ...(hasPlane ? axes(data, plane) : []),
    ...(hasPlane ? data.roofs.flatMap((roof) => roofShapes(roof, data.roofs, plane)) : []),
    ...(strip ? stripShapes(data.stripLabel, beside, theme) : []),
  ];
  const besideCount = data.points.filter(isBeside).length;
  let nth = 0;
  const places = data.points.map((point): Spot | null => {
    const radius =
      SMALLEST + (LARGEST - SMALLEST) * Math.sqrt(Math.max(0, Math.min(1, point.weight)));
    if (isPlaced(point)) return { x: placeX(point.intensity), y: placeY(point.rate), radius };
    if (!isBeside(point)) return null;
    const share = Math.min(point.share ?? 0, STRIP_TOP);
    // Side by side, so that those of one height can be told apart.
    const across = (((nth++ * 7) % Math.max(1, besideCount)) + 0.5) / Math.max(1, besideCount);
    return {
      x: beside.x + 8 + across * (beside.width - 16),
      y: beside.y + beside.height * (1 - share / STRIP_TOP),
      radius,
    };
  });
  // Large ones first, so that small ones are not hidden.
  const order = places
    .map((place, index) => ({ place, index }))
    .sort((a, b) => (b.place?.radius ?? 0) - (a.place?.radius ?? 0));
  for (const { place, index } of order) {
    const point = data.points[index];
    if (!place || !point) continue;
    const color = theme.resolve(point.color);
    shapes.push({
      kind: "path",
      d: circle(place, place.radius),
      fill: point.hollow ? theme.surface : color,
      stroke: color,
      width: point.hollow ? 2 : 1,
      opacity: 0.75,
    });
  }
  return {
    shapes,
    marks: places.map(markOf),
    at: (px, py) => nearest(places, px, py),
  };
}

/** It multiplies nothing, and how much of the roof it reaches is known. */
function isBeside(point: RooflinePoint): boolean {
  return point.share !== null && !isPlaced(point);
}

type Placed = RooflinePoint & { readonly intensity: number; readonly rate: number };

function isPlaced(point: RooflinePoint): point is Placed {
  const { intensity, rate } = point;
  return intensity !== null && rate !== null && intensity > 0 && rate > 0;
}

interface LogScale {
  readonly low: number;
  readonly high: number;
  /** 0…1. */
  readonly at: (value: number) => number;
}

function logScale([low, high]: readonly [number, number]): LogScale {
  return {
    low,
    high,
    at: (value) => (Math.log10(value) - Math.log10(low)) / (Math.log10(high) - Math.log10(low)),
  };
}

/** Powers of ten around all values. */
function rangeOf(
  values: readonly (number | null)[],
  more: readonly number[],
): readonly [number, number] {
  const there = [...values, ...more].filter((v): v is number => v !== null && v > 0);
  if (there.length === 0) return [1, 1000];
  const low = Math.floor(Math.log10(Math.min(...there)) - 0.05);
  const high = Math.ceil(Math.log10(Math.max(...there)) + 0.05);
  return [10 ** low, 10 ** Math.max(high, low + 1)];
}

/** How far the rising roof is seen before it meets a flat one. */
const RISE = 8;

/** Where flat roofs meet the rising one, and some way before. */
function ridges(roofs: readonly Roof[]): number[] {
  const rising = roofs.find(({ kind }) => kind === "rising")?.height;
  if (!rising) return [];
  return roofs.flatMap(({ kind, height }) =>
    kind === "flat" ? [height / rising, height / rising / RISE] : [],
  );
}

/** What is drawn into. */
interface Plane {
  readonly plot: Box;
  readonly x: LogScale;
  readonly y: LogScale;
  readonly placeX: (value: number) => number;
  readonly placeY: (value: number) => number;
  readonly theme: SceneTheme;
}

function axes(data: RooflineData, { plot, x, y, placeX, placeY, theme }: Plane): Shape[] {
  const bottom = plot.y + plot.height;
  const shapes: Shape[] = [];
  for (let tick = x.low; tick <= x.high * 1.001; tick *= 10) {
    const at = Math.round(placeX(tick)) + 0.5;
    shapes.push(
      { kind: "line", x1: at, y1: plot.y, x2: at, y2: bottom, stroke: theme.line },
      {
        kind: "text",
        x: at,
        y: bottom + 16,
        text: plain(tick),
        align: "center",
        fill: theme.muted,
      },
    );
  }
  for (let tick = y.low; tick <= y.high * 1.001; tick *= 10) {
    const at = Math.round(placeY(tick)) + 0.5;
    shapes.push(
      { kind: "line", x1: plot.x, y1: at, x2: plot.x + plot.width, y2: at, stroke: theme.line },
      {
        kind: "text",
        x: plot.x - 8,
        y: at + 4,
        text: data.rateLabel(tick),
        align: "right",
        fill: theme.muted,
      },
    );
  }
  shapes.push(
    {
      kind: "text",
      x: plot.x + plot.width / 2,
      y: bottom + 36,
      text: data.xLabel,
      align: "center",
      fill: theme.muted,
    },
    {
      kind: "text",
      x: plot.x,
      y: plot.y - 10,
      text: data.yLabel,
      align: "left",
      fill: theme.muted,
    },
  );
  return shapes;
}

function plain(value: number): string {
  return value >= 1 ? String(Math.round(value)) : String(Number(value.toPrecision(1)));
}

/** What is reached may lie close under its peak: its name stands left of the rising roof, where no points are. */
function isLeft(from: number, plot: Box): boolean {
  return from - plot.x > LABEL;
}

function roofShapes(
  { kind, height, label, reached = false }: Roof,
  roofs: readonly Roof[],
  { plot, x, y, placeX, placeY, theme }: Plane,
): Shape[] {
  const right = plot.x + plot.width;
  const bandwidth = roofs.find((roof) => roof.kind === "rising")?.height ?? null;
  const stroke = kind === "link" || reached ? theme.muted : theme.text;
  const dashed = kind === "link" || reached;
  if (kind === "flat") {
    const from = bandwidth === null ? plot.x : Math.max(plot.x, placeX(height / bandwidth));
    const at = placeY(height);
    const beside = reached && isLeft(from, plot);
    const [end, baseline] = beside ? [from - 8, at + 4] : [right - 4, reached ? at + 13 : at - 5];
    return [
      { kind: "line", x1: from, y1: at, x2: right, y2: at, stroke, dashed },
      { kind: "text", x: end, y: baseline, text: label, align: "right", fill: stroke },
    ];
  }
  const top = Math.max(...roofs.flatMap((roof) => (roof.kind === "flat" ? [roof.height] : [])), 0);
  const ceiling = top > 0 ? top : y.high;
  const from = Math.max(x.low, y.low / height);
  const to = Math.min(x.high, ceiling / height);
  if (!(to > from)) return [];
  const [x1, y1, x2, y2] = [placeX(from), placeY(from * height), placeX(to), placeY(to * height)];
  const slope = Math.atan2(y1 - y2, x2 - x1);
  const reach = (label.length * LETTER * Math.sin(slope)) / 2 + APART;
  const taken = roofs.flatMap((roof) =>
    roof.kind === "flat" &&
    roof.reached &&
    bandwidth !== null &&
    isLeft(placeX(roof.height / bandwidth), plot)
      ? [placeY(roof.height)]
      : [],
  );
  const yAt = (part: number) => y1 + part * (y2 - y1) - 6;
  const isFree = (part: number) => taken.every((at) => Math.abs(yAt(part) - at) > reach);
  const part = PLACES.find(isFree) ?? 0.5;
  const line: Shape = { kind: "line", x1, y1, x2, y2, stroke, dashed };
  // It lies so close under the roof of the memory that its name would hide it.
  if (reached) return [line];
  return [
    line,
    {
      kind: "text",
      x: x1 + part * (x2 - x1) - 4,
      y: yAt(part),
      text: label,
      align: "center",
      fill: stroke,
      turned: (slope * 180) / Math.PI,
    },
  ];
}

function stripShapes(label: string, box: Box, theme: SceneTheme): Shape[] {
  const shapes: Shape[] = [0, 0.25, 0.5, 0.75, 1].flatMap((share): Shape[] => {
    const at = Math.round(box.y + box.height * (1 - share / STRIP_TOP)) + 0.5;
    return [
      {
        kind: "line",
        x1: box.x,
        y1: at,
        x2: box.x + box.width,
        y2: at,
        stroke: share === 1 ? theme.text : theme.line,
      },
      {
        kind: "text",
        x: box.x - 8,
        y: at + 4,
        text: `${share * 100} %`,
        align: "right",
        fill: theme.muted,
      },
    ];
  });
  return [
    ...shapes,
    {
      kind: "text",
      x: box.x + box.width / 2,
      y: box.y - 10,
      text: label,
      align: "center",
      fill: theme.muted,
    },
  ];
}

function circle({ x, y }: { x: number; y: number }, radius: number): string {
  const [left, r] = [pixels(x - radius), pixels(radius)];
  return `M${left} ${pixels(y)}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`;
}

function markOf(place: Spot | null): Mark | null {
  return place && { outline: circle(place, place.radius + POINTER), x: place.x, y: place.y };
}

function nearest(places: readonly (Spot | null)[], px: number, py: number): number | null {
  let found: number | null = null;
  let least = Number.POSITIVE_INFINITY;
  places.forEach((place, index) => {
    if (!place) return;
    const distance = Math.hypot(place.x - px, place.y - py);
    // Of points that lie over each other the smaller one.
    if (distance <= place.radius + POINTER && distance + place.radius < least) {
      least = distance + place.radius;
      found = index;
    }
  });
  return found;
}
