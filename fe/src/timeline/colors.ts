/** Which colour a slice has. Pure but for what reads the page's style. */
import { computedColors, contrast, css, mix, pack, parseColor, type Rgb } from "../draw";
import { PART_COLORS, partColorName, partProperty } from "../draw/parts";
import { SHADES } from "./raster";

/** Custom properties of `theme.css`; the last is for what has no other. */
const SERIES = [
  "--series-1",
  "--series-2",
  "--series-3",
  "--series-4",
  "--series-5",
  "--series-6",
  "--series-7",
  "--series-8",
  "--series-9",
  "--series-10",
  "--series-rest",
] as const;
export const REST = SERIES.length - 1;

/** By the categories of the server: the part of a step that each is, so that it has the same colour in all views. */
const CATEGORY_PART = new Map([
  ["kernel", "compute"],
  ["communication", "communication"],
  ["memcpy", "copy"],
  ["memset", "fill"],
  ["operator", "operator"],
  ["python_function", "python"],
  ["runtime", "launch"],
  ["driver", "launch"],
  ["sync", "sync"],
  ["overhead", "profiler"],
]);
/** Categories that are no part of a step. */
const CATEGORY_HUE = new Map([
  ["user_annotation", 6],
  ["gpu_user_annotation", 6],
]);
const PARTS = [...new Set(CATEGORY_PART.values())];

const HUES: readonly string[] = [
  ...SERIES,
  ...PARTS.map((part) => partProperty(partColorName(part))),
];

/** Names of the same hue are told apart by three strengths. */
const STRENGTHS = [0.5, 0.6, 0.7] as const;
const DIMMED = 0.13;
/** What WCAG asks of text of this size, and a little. */
const READABLE = 4.6;

/** Colours in a row: every hue in three strengths, then every hue once, dimmed, then the parts of a step. */
export const DIM_FROM = HUES.length * STRENGTHS.length;
/** The first of the parts, in the order of PART_COLORS. */
export const PARTS_FROM = DIM_FROM + HUES.length;
const OF_PART = 0.8;

export interface Colors {
  /** SHADES for each colour, as the memory of an ImageData holds them. */
  readonly shades: Uint32Array;
  /** Of a colour at full cover, `#rrggbb`. */
  readonly solid: readonly string[];
  /** Of a counter: below its mean, from there up to its largest value, down to its least one, and the mean itself. */
  readonly counter: {
    readonly area: number;
    readonly band: number;
    readonly both: number;
    readonly line: number;
  };
  readonly text: string;
  readonly text2: string;
  readonly muted: string;
  readonly surface: string;
  readonly surface2: string;
  readonly border: string;
  readonly accent: string;
  readonly accentSoft: string;
  readonly danger: string;
  readonly font: string;
}

/** The category's hue, by its code. */
export function categoryHues(categories: readonly string[]): Uint8Array {
  return Uint8Array.from(categories, (category) => {
    const part = CATEGORY_PART.get(category);
    return part === undefined
      ? (CATEGORY_HUE.get(category) ?? REST)
      : SERIES.length + PARTS.indexOf(part);
  });
}

/** `shade`: any number; equal ones give the same strength. */
export function colorIndex(hue: number, shade: number, dimmed: boolean): number {
  return dimmed ? DIM_FROM + hue : hue * STRENGTHS.length + (shade % STRENGTHS.length);
}

/** A hue for the hash of a text, the same in every trace. */
export function hueOf(hashed: number): number {
  return hashed % REST;
}

/** `property`: the value of a custom property, `#rrggbb`. */
export function colorsOf(property: (name: string) => string, font: string): Colors {
  const surface = parseColor(property("--surface"));
  const text = parseColor(property("--text"));
  const rgb: Rgb[] = [];
  /** As strong as text on it can still be read. */
  const readable = (color: Rgb, strength: number): Rgb => {
    let share = strength;
    while (share > DIMMED && contrast(mix(color, surface, share), text) < READABLE) share -= 0.02;
    return mix(color, surface, share);
  };
  for (const hue of HUES)
    for (const strength of STRENGTHS) rgb.push(readable(parseColor(property(hue)), strength));
  for (const hue of HUES) rgb.push(mix(parseColor(property(hue)), surface, DIMMED));
  for (const part of PART_COLORS)
    rgb.push(readable(parseColor(property(partProperty(part))), OF_PART));
  const shades = new Uint32Array(rgb.length * SHADES);
  for (const [at, color] of rgb.entries())
    for (let shade = 0; shade < SHADES; shade++)
      shades[at * SHADES + shade] = pack(css(mix(color, surface, shade / (SHADES - 1))));
  const accent = parseColor(property("--accent"));
  const shade = (share: number) => pack(css(mix(accent, surface, share)));
  return {
    shades,
    counter: { area: shade(0.4), band: shade(0.18), both: shade(0.52), line: shade(0.95) },
    solid: rgb.map(css),
    text: property("--text"),
    text2: property("--text-2"),
    muted: property("--text-3"),
    surface: property("--surface"),
    surface2: property("--surface-2"),
    border: property("--border"),
    accent: property("--accent"),
    accentSoft: property("--accent-soft"),
    danger: property("--danger"),
    font,
  };
}

export function readColors(element: Element): Colors {
  return colorsOf(...computedColors(element));
}
