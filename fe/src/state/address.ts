/**
 * The parameters of the address: each is a key, and a codec between its text and its value. Pure.
 *
 * Those of the page are in `page.ts`, those of a view in `views/<id>/params.ts`. All state of the page is in the URL, so
 * a key keeps its meaning for ever: links live longer than versions. Absence is the text "".
 */
import type { Params } from "../host";

export interface Codec<T> {
  /** Of any text at all; "" gives the default. */
  parse(text: string): T;
  /** "" for the default, which is never written. */
  format(value: T): string;
  /** All values that there are, where these are few. */
  readonly words?: readonly NonNullable<T>[];
}

export interface Param<T> extends Required<Codec<T>> {
  readonly key: string;
  /** Changing it is a step that Back undoes; everything else is adjusted in place. */
  readonly isStep: boolean;
  /** It is about the traces that are shown: with others it is forgotten. */
  readonly ofTraces: boolean;
}

/** The parameters of a view, by name. Values of different types: each is read by its own handle. */
// biome-ignore lint/suspicious/noExplicitAny: a parameter of any type
export type ParamSet = Readonly<Record<string, Param<any>>>;

export function param<T>(
  key: string,
  { parse, format, words = [] }: Codec<T>,
  { isStep = false, ofTraces = false }: { isStep?: boolean; ofTraces?: boolean } = {},
): Param<T> {
  return { key, parse, format, words, isStep, ofTraces };
}

/** What is to be written under a key; "" takes it out. */
export interface Change {
  readonly key: string;
  readonly text: string;
  readonly isStep: boolean;
}

export function change<T>({ key, format, isStep }: Param<T>, value: T): Change {
  return { key, text: format(value), isStep };
}

export function applyChanges(params: Params, changes: readonly Change[]): Params {
  const next: Record<string, string> = { ...params };
  for (const { key, text } of changes) {
    if (text === "") delete next[key];
    else next[key] = text;
  }
  return next;
}

export function sameParams(a: Params, b: Params): boolean {
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => a[key] === b[key]);
}

/** Any text; what shows it knows what it means. */
export function text(usual = ""): Codec<string> {
  return {
    parse: (written) => written || usual,
    format: (value) => (value === usual ? "" : value),
  };
}

/** A name, or null where none was said. */
export const name: Codec<string | null> = {
  parse: (written) => written || null,
  format: (value) => value ?? "",
};

/** One of a few words; the first is what absence means, and any other text. */
export function choice<const T extends string>(words: readonly [T, ...T[]]): Codec<T> {
  return {
    words,
    parse: (written) => words.find((word) => word === written) ?? words[0],
    format: (value) => (value === words[0] ? "" : value),
  };
}

/** One of a few words, or null where what is usual depends on more than the address. */
export function oneOf<const T extends string>(words: readonly T[]): Codec<T | null> {
  return {
    words,
    parse: (written) => words.find((word) => word === written) ?? null,
    format: (value) => value ?? "",
  };
}

/** A whole number from 0 up; anything else is the usual one. */
export function whole(usual: number): Codec<number> {
  return {
    parse(written) {
      const number = /^\d{1,16}$/.test(written) ? Number(written) : usual;
      return Number.isSafeInteger(number) ? number : usual;
    },
    format: (value) => (value === usual ? "" : String(value)),
  };
}

export const flag: Codec<boolean> = {
  parse: (written) => written !== "",
  format: (value) => (value ? "1" : ""),
};

/** Texts that may hold anything but be empty; `,` and `%` are written `%2C` and `%25`. */
export const list: Codec<readonly string[]> = {
  parse: (written) =>
    written
      .split(",")
      .filter((part) => part !== "")
      .map((part) => part.replace(/%(2c|25)/gi, (code) => (code === "%25" ? "%" : ","))),
  format: (texts) =>
    texts.map((each) => each.replace(/[%,]/g, (sign) => (sign === "%" ? "%25" : "%2C"))).join(","),
};

/** Filter and order of a view's table: `q` and `o`. `order`: what is usual. */
export function tableParams(order = "") {
  return { filter: param("q", text()), sort: param("o", text(order)) };
}

/** Those of a further table: `ranksFilter` (`q2`) and `ranksSort` (`o2`) of (2, "ranks"). */
export function furtherTableParams<N extends string>(number: number, name: N, order = "") {
  return {
    [`${name}Filter`]: param(`q${number}`, text()),
    [`${name}Sort`]: param(`o${number}`, text(order)),
  } as Record<`${N}Filter` | `${N}Sort`, Param<string>>;
}
