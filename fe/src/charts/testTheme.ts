/** For tests: colours as they come, and letters that are all equally wide. */
import type { SceneTheme, Shape } from "./scene";

export const THEME: SceneTheme = {
  text: "#000",
  muted: "#777",
  line: "#eee",
  surface: "#fff",
  font: "sans-serif",
  patterns: false,
  resolve: (color) => color,
  measure: (text) => text.length * 6.6,
};

export type Of<Kind extends Shape["kind"]> = Extract<Shape, { kind: Kind }>;

export function shapesOf<Kind extends Shape["kind"]>(
  shapes: readonly Shape[],
  kind: Kind,
): Of<Kind>[] {
  return shapes.filter((shape): shape is Of<Kind> => shape.kind === kind);
}

export function textsOf(shapes: readonly Shape[]): string[] {
  return shapesOf(shapes, "text").map(({ text }) => text);
}
