/** What stands side by side in a picture is told apart, with full colour vision and without that of red and green. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parseColor, type Rgb } from "./colors";
import { kernelColor, partColor } from "./parts";
import { seriesColor } from "./theme";

const SHEETS = ["src/ui/theme.css", "src/draw/parts.css"].map((path) => readFileSync(path, "utf8"));
const DARK = ':root[data-theme="dark"]';

const HOST = "python operator input launch slow_launch api sync sync.relaunch allocator compile";
const IDLE = `${HOST} launch_latency dependency dependency.communication profiler unknown`;

/** What a picture shows side by side, and how far apart its colours are at least (CIEDE2000, for people without red and green). */
const BESIDE: readonly (readonly [string, readonly string[], number])[] = [
  [
    "kernels",
    "gemm attention norm pointwise layout copy image communication".split(" ").map(kernelColor),
    10,
  ],
  [
    "a step by category",
    properties("cat", "kernel memcpy memset communication runtime dataloader cpu_exec other"),
    10,
  ],
  [
    "phases",
    parts("phase.", "forward backward loss optimizer recompute zero_grad validation data other"),
    9,
  ],
  [
    "memory",
    parts(
      "memory.",
      "in_use gradient optimizer_state forward_temporary backward_temporary optimizer_temporary kept_from_forward before_recording",
    ),
    9,
  ],
  ["changes", ["var(--better)", "var(--worse)", "var(--series-rest)"], 24],
  [
    "the critical path",
    parts(
      "",
      `${HOST} compute communication copy launch_latency device_gap dependency hand_over unknown`,
    ),
    6,
  ],
  ["a waterfall", parts("", `${IDLE} compute communication copy`), 6],
  ["series", Array.from({ length: 10 }, (_, at) => seriesColor(at)), 6],
];

describe.each(["light", "dark"])("in the %s theme", (theme) => {
  it.each(BESIDE)("%s are told apart", (_, colors, least) => {
    const seen = colors.map((color) => rgbOf(color, theme));
    const near = pairs(seen).filter(
      ([a, b]) =>
        difference(labOf(a.map(linear)), labOf(b.map(linear))) < 1.2 * least ||
        difference(labOf(deuteranope(a)), labOf(deuteranope(b))) < least,
    );
    expect(near).toEqual([]);
  });

  it("no series has the colour of a part of a step", () => {
    const names = [...(SHEETS[1] ?? "").matchAll(/--part-([\w-]+):/g)].map(([, name]) => name);
    const series = Array.from({ length: 10 }, (_, at) => rgbOf(seriesColor(at), theme));
    const same = names.filter((name) => {
      const own = labOf(rgbOf(`var(--part-${name})`, theme).map(linear));
      return series.some((color) => difference(labOf(color.map(linear)), own) < 4);
    });
    expect(same).toEqual([]);
  });

  it("a category has the colour of the part of a step that it is", () => {
    const own = {
      kernel: "compute",
      memcpy: "copy",
      memset: "fill",
      communication: "communication",
      runtime: "launch",
      dataloader: "input",
      cpu_exec: "operator",
      other: "unknown",
    };
    for (const [category, part] of Object.entries(own))
      expect(rgbOf(`var(--cat-${category})`, theme), category).toEqual(
        rgbOf(partColor(part), theme),
      );
  });
});

/** By the table of CIE 142 (CIEDE2000): Sharma, Wu, Dalal, 2005. */
it.each([
  [[50, 2.6772, -79.7751], [50, 0, -82.7485], 2.0425],
  [[50, 2.5, 0], [73, 25, -18], 27.1492],
  [[60.2574, -34.0099, 36.2677], [60.4626, -34.1751, 39.4387], 1.2644],
  [[2.0776, 0.0795, -1.135], [0.9033, -0.0636, -0.5514], 0.9082],
] as const)("measures differences as the standard does", (a, b, expected) => {
  expect(difference(a, b)).toBeCloseTo(expected, 3);
});

function parts(prefix: string, ids: string): string[] {
  return ids.split(" ").map((id) => partColor(prefix + id));
}

function properties(kind: string, names: string): string[] {
  return names.split(" ").map((name) => `var(--${kind}-${name})`);
}

/** Of a custom property, in a theme. */
function rgbOf(color: string, theme: string): Rgb {
  const name = /--[\w-]+/.exec(color)?.[0];
  for (const sheet of SHEETS) {
    const [light = "", dark = ""] = sheet.split(DARK);
    const value = new RegExp(`${name}: (#\\w+)`).exec(theme === "dark" ? dark : light)?.[1];
    if (value) return parseColor(value);
  }
  throw new Error(`${name} is in no style sheet`);
}

function pairs<T>(items: readonly T[]): [T, T][] {
  return items.flatMap((a, at) => items.slice(0, at).map((b): [T, T] => [a, b]));
}

function linear(part: number): number {
  const x = part / 255;
  return x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4;
}

type Triple = readonly number[];

function times(matrix: readonly Triple[], [x = 0, y = 0, z = 0]: Triple): number[] {
  return matrix.map(([a = 0, b = 0, c = 0]) => a * x + b * y + c * z);
}

/** What a deuteranope sees, linear: Machado, Oliveira, Fernandes, 2009, severity 1. */
function deuteranope(color: Rgb): number[] {
  const matrix = [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ];
  return times(matrix, color.map(linear)).map((part) => Math.min(1, Math.max(0, part)));
}

/** CIELAB of linear sRGB, D65. */
function labOf(color: Triple): number[] {
  const matrix = [
    [0.4124564, 0.3575761, 0.1804375],
    [0.2126729, 0.7151522, 0.072175],
    [0.0193339, 0.119192, 0.9503041],
  ];
  const white = times(matrix, [1, 1, 1]);
  const [x = 0, y = 0, z = 0] = times(matrix, color).map((part, at) => {
    const t = part / (white[at] ?? 1);
    return t > 216 / 24389 ? Math.cbrt(t) : ((24389 / 27) * t + 16) / 116;
  });
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

/** CIEDE2000. */
function difference([l1 = 0, a1 = 0, b1 = 0]: Triple, [l2 = 0, a2 = 0, b2 = 0]: Triple): number {
  const rad = Math.PI / 180;
  const chroma = (Math.hypot(a1, b1) + Math.hypot(a2, b2)) / 2;
  const grow = 1.5 - 0.5 * Math.sqrt(chroma ** 7 / (chroma ** 7 + 25 ** 7));
  const [c1, c2] = [Math.hypot(grow * a1, b1), Math.hypot(grow * a2, b2)];
  const hue = (a: number, b: number) => (Math.atan2(b, grow * a) / rad + 360) % 360;
  const [h1, h2] = [hue(a1, b1), hue(a2, b2)];
  const isGrey = c1 * c2 === 0;
  const turn = isGrey ? 0 : ((h2 - h1 + 540) % 360) - 180;
  const dh = 2 * Math.sqrt(c1 * c2) * Math.sin((turn / 2) * rad);
  const h = isGrey ? h1 + h2 : (h1 + turn / 2 + 360) % 360;
  const [l, c] = [(l1 + l2) / 2, (c1 + c2) / 2];
  const cos = (angle: number) => Math.cos(angle * rad);
  const t =
    1 - 0.17 * cos(h - 30) + 0.24 * cos(2 * h) + 0.32 * cos(3 * h + 6) - 0.2 * cos(4 * h - 63);
  const sl = 1 + (0.015 * (l - 50) ** 2) / Math.sqrt(20 + (l - 50) ** 2);
  const [sc, sh] = [1 + 0.045 * c, 1 + 0.015 * c * t];
  const bend = 60 * Math.exp(-(((h - 275) / 25) ** 2));
  const rt = -2 * Math.sqrt(c ** 7 / (c ** 7 + 25 ** 7)) * Math.sin(bend * rad);
  const [dl, dc] = [(l2 - l1) / sl, (c2 - c1) / sc];
  return Math.sqrt(dl ** 2 + dc ** 2 + (dh / sh) ** 2 + rt * dc * (dh / sh));
}
