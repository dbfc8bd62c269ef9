/** A CSS colour or a custom property reference such as `var(--cat-kernel)`. */
export type ChartColor = string;

export interface ChartTheme {
  readonly text: string;
  readonly muted: string;
  readonly line: string;
  readonly surface: string;
  readonly font: string;
  /** Patterns in addition to colours. */
  readonly patterns: boolean;
  /** A colour as the canvas understands it: custom properties looked up. */
  readonly resolve: (color: ChartColor) => string;
}

/** How many `--series-1` … there are; none is the colour of a part of a step (`palette.test.ts`). */
const SERIES = 10;

/** For a series or slice without a colour of its own: the one at a position, again from the first after the last. */
export function seriesColor(index: number): ChartColor {
  return `var(--series-${(index % SERIES) + 1})`;
}

/** Whether people ask their system for more contrast. */
export function wantsPatterns(): boolean {
  return window.matchMedia?.("(prefers-contrast: more)").matches ?? false;
}

export function readTheme(element: Element): ChartTheme {
  const style = getComputedStyle(element);
  const property = (name: string, fallback: string) =>
    style.getPropertyValue(name).trim() || fallback;
  return {
    text: property("--text", style.color || "#1b1f24"),
    muted: property("--text-3", "#616b78"),
    line: property("--border", "#dfe3e8"),
    surface: property("--surface", "#ffffff"),
    font: style.fontFamily || "sans-serif",
    patterns: wantsPatterns(),
    resolve: (color) => {
      const name = /^var\((--[\w-]+)(?:,\s*(.+))?\)$/.exec(color);
      return name?.[1] ? property(name[1], name[2] ?? "gray") : color;
    },
  };
}
