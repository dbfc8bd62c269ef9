/** The colours of boxes: a hue says what kind it is, small differences tell neighbours apart. Pure but for what reads the page's style. */
import { computedColors, contrast, css, hash, mix, parseColor } from "../../draw";
import { partColorName, partProperty } from "../../draw/parts";

export const KINDS = [
  "frame",
  "builtin",
  "module",
  "annotation",
  "operator",
  "device",
  "communication",
  "copy",
  "other",
  "smaller",
] as const;
export type FlameKind = (typeof KINDS)[number];

/** Custom properties of `theme.css` and `parts.css`: the same as on the timeline, where it draws the same. */
export const HUES: Record<FlameKind, string> = {
  frame: partProperty(partColorName("python")),
  builtin: "--series-9",
  module: "--series-8",
  annotation: "--series-7",
  operator: partProperty(partColorName("operator")),
  device: partProperty(partColorName("compute")),
  communication: partProperty(partColorName("communication")),
  copy: partProperty(partColorName("copy")),
  other: "--series-10",
  smaller: "--series-rest",
};

/** Shares of the hue in the fill, the rest is the surface; by the name's hash. Less where the text needs it. */
const STRENGTHS = [0.42, 0.48, 0.54] as const;
const DIMMED = 0.12;
const HIT = 0.7;
/** What WCAG asks of text of this size, and a little. */
const READABLE = 4.6;

export interface Palette {
  readonly fills: Record<FlameKind, readonly string[]>;
  /** Of boxes that a search does not find. */
  readonly dimmed: Record<FlameKind, string>;
  readonly hit: string;
  readonly text: string;
  readonly muted: string;
  readonly surface: string;
  readonly accent: string;
  readonly font: string;
}

/** `property`: the value of a custom property, `#rrggbb`. */
export function paletteOf(property: (name: string) => string, font: string): Palette {
  const surface = parseColor(property("--surface"));
  const text = parseColor(property("--text"));
  const mixed = (name: string, strength: number) => {
    const hue = parseColor(property(name));
    let share = strength;
    while (share > DIMMED && contrast(mix(hue, surface, share), text) < READABLE) share -= 0.02;
    return css(mix(hue, surface, share));
  };
  const by = <T>(make: (hue: string) => T) =>
    Object.fromEntries(KINDS.map((kind) => [kind, make(HUES[kind])])) as Record<FlameKind, T>;
  return {
    fills: by((hue) => STRENGTHS.map((strength) => mixed(hue, strength))),
    dimmed: by((hue) => mixed(hue, DIMMED)),
    hit: mixed("--series-2", HIT),
    text: property("--text"),
    muted: property("--text-3"),
    surface: property("--surface"),
    accent: property("--accent"),
    font,
  };
}

export function readPalette(element: Element): Palette {
  return paletteOf(...computedColors(element));
}

export interface Fills {
  /** By entry: a place in `colors`. */
  readonly fill: Uint8Array;
  readonly colors: readonly string[];
}

/** `hits`: 1 for each entry that a search finds, null without a search. */
export function fillsOf(
  palette: Palette,
  size: number,
  kind: (entry: number) => FlameKind,
  name: (entry: number) => string,
  hits: Uint8Array | null,
): Fills {
  const colors = [
    palette.hit,
    ...KINDS.flatMap((each) => [palette.dimmed[each], ...palette.fills[each]]),
    palette.dimmed.smaller,
  ];
  const shades = STRENGTHS.length;
  const first = new Map(KINDS.map((each, i) => [each, 1 + i * (shades + 1)]));
  const fill = new Uint8Array(size);
  for (let entry = 0; entry < size; entry++) {
    const dimmed = first.get(kind(entry)) ?? 0;
    if (hits === null) fill[entry] = dimmed + 1 + (hash(name(entry)) % shades);
    else fill[entry] = hits[entry] ? 0 : dimmed;
  }
  return { fill, colors };
}
