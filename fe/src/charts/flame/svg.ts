import type { Palette } from "./colors";
import type { Box } from "./layout";
import { type BoxLook, FONT_SIZE, paint, ROW } from "./paint";

/** The boxes as an SVG file. Names are text in it, whatever they contain. */
export function svgOf(
  boxes: readonly Box[],
  look: BoxLook,
  palette: Palette,
  width: number,
  levels: number,
  measure: (text: string) => number,
): string {
  const height = levels * ROW;
  const parts: string[] = [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">`,
    `<rect width="${width}" height="${height}" fill="${escaped(palette.surface)}"/>`,
    `<g font-family="${escaped(palette.font)}" font-size="${FONT_SIZE}">`,
  ];
  paint(
    {
      rect: (x, y, w, h, fill) =>
        parts.push(
          `<rect x="${round(x)}" y="${y}" width="${round(w)}" height="${h}" fill="${escaped(fill)}"/>`,
        ),
      text: (text, x, y, fill) =>
        parts.push(
          `<text x="${round(x)}" y="${y}" fill="${escaped(fill)}">${escaped(text)}</text>`,
        ),
      measure,
    },
    boxes,
    look,
    palette,
  );
  parts.push("</g></svg>");
  return parts.join("\n");
}

function round(value: number): string {
  return String(Math.round(value * 100) / 100);
}

function escaped(text: string): string {
  return (
    text
      // Characters that XML cannot hold at all.
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
      .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "\ufffd")
      .replace(/&/g, "&amp;")
      .replace(/</g, "&lt;")
      .replace(/>/g, "&gt;")
      .replace(/"/g, "&quot;")
  );
}
