/** The colours of boxes: a hue says what kind it is, small differences tell neighbours apart. Pure but for `readPalette`. */

export const KINDS = [
  "frame",
  "builtin",
  "module",
  "annotation",
  "operator",
  "device",
  "other",
  "smaller",
] as const;
export type FlameKind = (typeof KINDS)[number];

/** Custom properties of `theme.css`. */
export const HUES: Record<FlameKind, string> = {
  frame: "--series-1",
  builtin: "--series-5",
  module: "--series-7",
  annotation: "--series-8",
  operator: "--series-3",
  device: "--series-6",
  other: "--series-10",
  smaller: "--series-rest",
};

export type Rgb = readonly [number, number, number];

/** Shares of the hue in the fill, the rest is the surface; by the name's hash. */
const STRENGTHS = [0.42, 0.48, 0.54] as const;
const DIMMED = 0.12;

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
  const mixed = (name: string, strength: number) =>
    css(mix(parseColor(property(name)), surface, strength));
  const by = <T>(make: (hue: string) => T) =>
    Object.fromEntries(KINDS.map((kind) => [kind, make(HUES[kind])])) as Record<FlameKind, T>;
  return {
    fills: by((hue) => STRENGTHS.map((strength) => mixed(hue, strength))),
    dimmed: by((hue) => mixed(hue, DIMMED)),
    hit: mixed("--series-2", 0.66),
    text: property("--text"),
    muted: property("--text-3"),
    surface: property("--surface"),
    accent: property("--accent"),
    font,
  };
}

export function readPalette(element: Element): Palette {
  const style = getComputedStyle(element);
  // A canvas writes every colour as #rrggbb, however the style sheet says it.
  const context = document.createElement("canvas").getContext("2d");
  const property = (name: string) => {
    const text = style.getPropertyValue(name).trim();
    if (!context) return text;
    context.fillStyle = text;
    return String(context.fillStyle);
  };
  return paletteOf(property, style.fontFamily || "sans-serif");
}

export function fillOf({ fills }: Palette, kind: FlameKind, name: string): string {
  const shades = fills[kind];
  return shades[hash(name) % shades.length] ?? "";
}

/** Small and quick; equal names have equal colours in every trace. */
export function hash(text: string): number {
  let found = 0;
  for (let i = 0; i < text.length; i++) found = (Math.imul(found, 31) + text.charCodeAt(i)) | 0;
  return found >>> 0;
}

export function parseColor(text: string): Rgb {
  const match = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i.exec(text.trim());
  if (!match) return [128, 128, 128];
  return [1, 2, 3].map((i) => Number.parseInt(match[i] ?? "80", 16)) as unknown as Rgb;
}

export function mix(color: Rgb, surface: Rgb, strength: number): Rgb {
  return color.map((part, i) =>
    Math.round(part * strength + (surface[i] ?? 0) * (1 - strength)),
  ) as unknown as Rgb;
}

function css(color: Rgb): string {
  return `#${color.map((part) => part.toString(16).padStart(2, "0")).join("")}`;
}
