/** Shapes on a canvas, and as the text of an SVG file. */
import { FLAG, type SceneTheme, type Shape } from "./scene";

const FONT_SIZE = 12;

export function paint(
  context: CanvasRenderingContext2D,
  shapes: readonly Shape[],
  theme: SceneTheme,
): void {
  context.font = `${FONT_SIZE}px ${theme.font}`;
  context.lineWidth = 1;
  for (const shape of shapes) {
    switch (shape.kind) {
      case "rect":
        if (shape.fill !== undefined) {
          context.fillStyle = shape.fill;
          context.fillRect(shape.x, shape.y, shape.width, shape.height);
        }
        if (shape.stroke !== undefined) {
          context.strokeStyle = shape.stroke;
          context.strokeRect(shape.x, shape.y, shape.width, shape.height);
        }
        break;
      case "line":
        context.strokeStyle = shape.stroke;
        context.beginPath();
        context.moveTo(shape.x1, shape.y1);
        context.lineTo(shape.x2, shape.y2);
        context.stroke();
        break;
      case "text":
        context.fillStyle = shape.fill;
        context.textAlign = shape.align;
        context.fillText(shape.text, shape.x, shape.y);
        break;
      case "flag":
        context.fillStyle = shape.fill;
        context.beginPath();
        context.moveTo(shape.x, shape.y);
        context.lineTo(shape.x - FLAG / 2, shape.y - FLAG);
        context.lineTo(shape.x + FLAG / 2, shape.y - FLAG);
        context.fill();
        break;
    }
  }
}

const ANCHOR = { left: "start", center: "middle", right: "end" } as const;

/** Built as elements, so that texts from a trace stay texts. */
export function svgText(
  shapes: readonly Shape[],
  width: number,
  height: number,
  theme: SceneTheme & { readonly surface: string },
): string {
  const root = element("svg", { width, height, viewBox: `0 0 ${width} ${height}` });
  root.append(element("rect", { width, height, fill: theme.surface }));
  const group = element("g", { "font-family": theme.font, "font-size": FONT_SIZE });
  root.append(group);
  for (const shape of shapes) {
    switch (shape.kind) {
      case "rect": {
        const { x, y, width: w, height: h, fill = "none", stroke = "none" } = shape;
        group.append(element("rect", { x, y, width: w, height: h, fill, stroke }));
        break;
      }
      case "line": {
        const { x1, y1, x2, y2, stroke } = shape;
        group.append(element("line", { x1, y1, x2, y2, stroke }));
        break;
      }
      case "text": {
        const { x, y, fill, align } = shape;
        const text = element("text", { x, y, fill, "text-anchor": ANCHOR[align] });
        text.textContent = shape.text;
        group.append(text);
        break;
      }
      case "flag": {
        const { x, y, fill } = shape;
        const d = `M${x} ${y}l${-FLAG / 2} ${-FLAG}h${FLAG}z`;
        group.append(element("path", { d, fill }));
        break;
      }
    }
  }
  return new XMLSerializer().serializeToString(root);
}

function element(name: string, attributes: Record<string, string | number>): SVGElement {
  const node = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, text] of Object.entries(attributes)) node.setAttribute(key, String(text));
  return node;
}
