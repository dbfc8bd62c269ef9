/** Colours as numbers: mixing, contrast, the memory of a canvas. Pure but for what reads the page's style. */

export type Rgb = readonly [number, number, number];

/** What custom properties are on an element, as `#rrggbb`, and its font. */
export function computedColors(element: Element): [(name: string) => string, string] {
  const style = getComputedStyle(element);
  // A canvas writes every colour as #rrggbb, however the style sheet says it.
  const context = document.createElement("canvas").getContext("2d");
  const property = (name: string) => {
    const text = style.getPropertyValue(name).trim();
    if (!context) return text;
    context.fillStyle = text;
    return String(context.fillStyle);
  };
  return [property, style.fontFamily || "sans-serif"];
}

/** Of `#rrggbb` or `#rgb`, as a style sheet without spare letters has it; grey of anything else. */
export function parseColor(text: string): Rgb {
  const digits = /^#([0-9a-f]{3}|[0-9a-f]{6})$/i.exec(text.trim())?.[1] ?? "808080";
  const each = digits.length / 3;
  return [0, 1, 2].map((i) => {
    const part = digits.slice(i * each, (i + 1) * each);
    return Number.parseInt(part.padEnd(2, part), 16);
  }) as unknown as Rgb;
}

export function mix(color: Rgb, surface: Rgb, strength: number): Rgb {
  return color.map((part, i) =>
    Math.round(part * strength + (surface[i] ?? 0) * (1 - strength)),
  ) as unknown as Rgb;
}

/** By the definition of WCAG 2, 1…21. */
export function contrast(a: Rgb, b: Rgb): number {
  const [low = 0, high = 0] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}

/** Black or white, whichever is easier to read on a colour. */
export function onColor(color: string): string {
  const own = parseColor(color);
  const [black, white] = ["#000000", "#ffffff"] as const;
  return contrast(parseColor(white), own) >= contrast(parseColor(black), own) ? white : black;
}

function luminance(color: Rgb): number {
  const [red = 0, green = 0, blue = 0] = color.map((part) => {
    const x = part / 255;
    return x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

export function css(color: Rgb): string {
  return `#${color.map((part) => part.toString(16).padStart(2, "0")).join("")}`;
}

/** As the memory of an ImageData holds it. */
export function pack(color: string): number {
  const [red, green, blue] = parseColor(color);
  return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}
