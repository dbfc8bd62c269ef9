/** What pictures are made of: shapes with places and colours, and where pointer and keys go. Pure but for `sceneTheme`. */
import { type ChartTheme, readTheme } from "../draw";

/** Pixels of text that says no size of its own. */
export const FONT_SIZE = 12;
/** Width and height of a flag. */
export const FLAG = 8;

export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

interface Filled {
  readonly fill?: string | undefined;
  readonly stroke?: string | undefined;
  readonly dashed?: boolean | undefined;
  /** Which lines are drawn over the fill, for people who ask their system for more contrast. */
  readonly hatch?: number | undefined;
}

export type Shape =
  | ({ readonly kind: "rect" } & Box & Filled)
  | {
      readonly kind: "line";
      readonly x1: number;
      readonly y1: number;
      readonly x2: number;
      readonly y2: number;
      readonly stroke: string;
      readonly dashed?: boolean;
    }
  /** `d`: as in SVG. */
  | ({
      readonly kind: "path";
      readonly d: string;
      /** Of the stroke, in pixels. */
      readonly width?: number;
      /** Of the fill, 0…1. */
      readonly opacity?: number;
    } & Filled)
  | {
      readonly kind: "text";
      readonly x: number;
      readonly y: number;
      readonly text: string;
      readonly align: "left" | "center" | "right";
      readonly fill: string;
      readonly bold?: boolean;
      /** Degrees, against the clock. */
      readonly turned?: number;
    }
  /** A grid of colours over a box, row by row as the memory of an ImageData holds them. */
  | ({
      readonly kind: "image";
      readonly columns: number;
      readonly rows: number;
      readonly pixels: Uint32Array<ArrayBuffer>;
    } & Box)
  /** A triangle that points down to a place. */
  | { readonly kind: "flag"; readonly x: number; readonly y: number; readonly fill: string };

export interface SceneTheme extends ChartTheme {
  /** The width of a text in pixels. */
  readonly measure: (text: string) => number;
}

/** A place of a picture that pointer and keys go to: a slice, a bar, a column. */
export interface Mark {
  /** Its outline, as in SVG. */
  readonly outline: string;
  /** Where its tip is shown when it was reached by keyboard. */
  readonly x: number;
  readonly y: number;
}

/** By item; null where it is not drawn. Where there are very many, each is made when it is asked for. */
export interface Marks {
  readonly at: (index: number) => Mark | null | undefined;
}

export interface Picture<M extends Marks = readonly (Mark | null)[]> {
  readonly shapes: readonly Shape[];
  readonly marks: M;
  /** Which mark is at a place; null beside all of them. */
  readonly at: (x: number, y: number) => number | null;
  /** Where a key leads from a mark, null for other keys; without it marks follow each other. */
  readonly move?: (key: string, from: number) => number | null;
}

/** Colours, font and text widths of an element of the page. */
export function sceneTheme(element: Element): SceneTheme {
  const theme = readTheme(element);
  const context = document.createElement("canvas").getContext("2d");
  if (context) context.font = `${FONT_SIZE}px ${theme.font}`;
  return {
    ...theme,
    measure: (text) => context?.measureText(text).width ?? text.length * FONT_SIZE * 0.55,
  };
}

/** The colour of a series or slice that has none of its own, and its hatch if the reader wants one. */
export function filled(theme: ChartTheme, color: string, index: number): Filled {
  return { fill: theme.resolve(color), hatch: theme.patterns ? index : undefined };
}

/** Of a path: hundredths of a pixel, so that a saved picture is not full of digits. */
export function pixels(value: number): number {
  return Math.round(value * 100) / 100;
}

export function boxPath({ x, y, width, height }: Box): string {
  return `M${x} ${y}h${width}v${height}h${-width}z`;
}

/** A file, or the clipboard. */
export type FileKind = "png" | "svg" | "copy";
