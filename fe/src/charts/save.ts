/** Pictures as files and on the clipboard, below their title and origin. Fetched when one is wanted. */
import { type ChartTheme, captionLines, crisp } from "../draw";
import { copyImage, saveFile } from "../host";
import { HATCH_SIZE, HATCHES } from "./hatch";
import { DASHES, flagPath, imageOf, paint, type Theme } from "./paint";
import { type FileKind, FONT_SIZE, type Shape } from "./scene";

const ANCHOR = { left: "start", center: "middle", right: "end" } as const;

/** Built as elements, so that texts from a trace stay texts. */
export function svgText(
  shapes: readonly Shape[],
  width: number,
  height: number,
  theme: Theme,
  /** Pixels above 0 that belong to the picture. */
  above = 0,
): string {
  const [top, whole] = [-above, height + above];
  const root = element("svg", { width, height: whole, viewBox: `0 ${top} ${width} ${whole}` });
  const used = new Set(
    shapes.flatMap((shape) =>
      "hatch" in shape && shape.hatch !== undefined ? [shape.hatch % HATCHES.length] : [],
    ),
  );
  const definitions = element("defs", {});
  for (const index of used) {
    const units = { patternUnits: "userSpaceOnUse", width: HATCH_SIZE, height: HATCH_SIZE };
    const pattern = element("pattern", { id: `hatch${index}`, ...units });
    pattern.append(
      element("path", { d: HATCHES[index] ?? "", stroke: theme.surface, fill: "none" }),
    );
    definitions.append(pattern);
  }
  if (used.size > 0) root.append(definitions);
  root.append(element("rect", { y: top, width, height: whole, fill: theme.surface }));
  const group = element("g", { "font-family": theme.font, "font-size": FONT_SIZE });
  root.append(group);
  for (const shape of shapes) group.append(...svgElements(shape));
  return new XMLSerializer().serializeToString(root);
}

function svgElements(shape: Shape): SVGElement[] {
  switch (shape.kind) {
    case "rect":
    case "path": {
      const { fill = "none", stroke = "none", hatch } = shape;
      const place =
        shape.kind === "path"
          ? { d: shape.d, "stroke-width": shape.width ?? 1, "fill-opacity": shape.opacity ?? 1 }
          : { x: shape.x, y: shape.y, width: shape.width, height: shape.height };
      const drawn = element(shape.kind, { ...place, ...dashes(shape), fill, stroke });
      if (hatch === undefined) return [drawn];
      return [
        drawn,
        element(shape.kind, { ...place, fill: `url(#hatch${hatch % HATCHES.length})` }),
      ];
    }
    case "line": {
      const { x1, y1, x2, y2, stroke } = shape;
      return [element("line", { x1, y1, x2, y2, stroke, ...dashes(shape) })];
    }
    case "text": {
      const { x, y, fill, align, bold, turned } = shape;
      const text = element("text", {
        x,
        y,
        fill,
        "text-anchor": ANCHOR[align],
        ...(bold ? { "font-weight": "bold" } : {}),
        ...(turned ? { transform: `rotate(${-turned} ${x} ${y})` } : {}),
      });
      text.textContent = shape.text;
      return [text];
    }
    case "image": {
      const { x, y, width, height } = shape;
      const href = imageOf(shape)?.toDataURL();
      const whole = { preserveAspectRatio: "none", style: "image-rendering: pixelated" };
      return [element("image", { x, y, width, height, href, ...whole })];
    }
    case "flag":
      return [element("path", { d: flagPath(shape), fill: shape.fill })];
  }
}

function dashes({ dashed }: { readonly dashed?: boolean | undefined }) {
  return dashed ? { "stroke-dasharray": DASHES.join(" ") } : {};
}

function element(
  name: string,
  attributes: Readonly<Record<string, string | number | undefined>>,
): SVGElement {
  const node = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, text] of Object.entries(attributes)) {
    if (text !== undefined) node.setAttribute(key, String(text));
  }
  return node;
}

const LINE = 18;
const EDGE = 8;

/** The title and where the picture is from, in lines above 0 that are no wider than the picture. */
function captionShapes(title: string, width: number, theme: ChartTheme): Shape[] {
  const pen = document.createElement("canvas").getContext("2d");
  if (pen) pen.font = `${FONT_SIZE}px ${theme.font}`;
  const fits = (text: string) => (pen?.measureText(text).width ?? 0) <= width - 2 * EDGE;
  const lines = captionLines().flatMap((line) => {
    const wrapped: string[] = [];
    for (const word of line.split(" ")) {
      const longer = `${wrapped.at(-1) ?? ""} ${word}`.trim();
      if (wrapped.length > 0 && fits(longer)) wrapped[wrapped.length - 1] = longer;
      else wrapped.push(word);
    }
    return wrapped;
  });
  const all = [title, ...lines];
  return all.map((text, at) => ({
    kind: "text",
    x: EDGE,
    y: (at - all.length) * LINE + FONT_SIZE - EDGE,
    text,
    align: "left",
    bold: at === 0,
    fill: at === 0 ? theme.text : theme.muted,
  }));
}

/** The picture below its title and origin, as a file that is named by its title; whether it was copied or saved. */
export async function savePicture(
  kind: FileKind,
  title: string,
  shapes: readonly Shape[],
  width: number,
  height: number,
  theme: ChartTheme,
): Promise<boolean> {
  const caption = captionShapes(title, width, theme);
  const above = caption.length * LINE + EDGE;
  const all = [...caption, ...shapes];
  if (kind === "svg") {
    const svg = svgText(all, width, height, theme, above);
    saveFile(`${title}.svg`, new Blob([svg], { type: "image/svg+xml" }));
    return true;
  }
  const picture = document.createElement("canvas");
  const context = crisp(picture, width, height + above, 2);
  if (!context) return false;
  context.fillStyle = theme.surface;
  context.fillRect(0, 0, width, height + above);
  context.translate(0, above);
  paint(context, all, theme);
  const png = new Promise<Blob>((resolve, reject) =>
    picture.toBlob((made) => (made ? resolve(made) : reject(new Error("no picture"))), "image/png"),
  );
  if (kind === "copy") return copyImage(png);
  saveFile(`${title}.png`, await png);
  return true;
}
