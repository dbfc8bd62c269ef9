/** Fills sentences with values: the Chinese counterpart of `torch_tb_profiler/words`, whose docstring says what is in one. */
import { partIn } from "../../partIn";
import type { Values } from "../../values";
import { BYTES_PER, howOften, ms, percent, short, size, timesAsMuch } from "../numbers";
import { parts } from "../parts";

/** A text, or a choice between texts by the value that its `by` names. */
export type Sentence = string | { readonly [key: string]: Sentence };
export type Section = Readonly<Record<string, Sentence>>;

const PLACE = /\{\{|\}\}|\{(\w+)(?::([^{}]*))?\}/g;

/** Undefined where a sentence, a value that it names or a choice for one is missing. */
export function say(
  section: Section,
  shared: Section,
  key: string,
  values: Values,
): string | undefined {
  let sentence: Sentence | undefined = section[key] ?? shared[key];
  while (typeof sentence === "object")
    sentence = sentence[choice(values[String(sentence.by)])] ?? sentence.other;
  if (sentence === undefined) return undefined;
  let missing = false;
  const text = sentence.replace(PLACE, (place: string, name?: string, format = "") => {
    if (name === undefined) return place.charAt(0);
    const value = values[name];
    const filled =
      value === undefined ? say(section, shared, name, values) : formatted(value, format, values);
    missing ||= filled === undefined;
    return filled ?? "";
  });
  return missing ? undefined : text;
}

function choice(value: Values[string] | undefined): string {
  if (typeof value === "boolean") return value ? "yes" : "no";
  return String(value ?? "");
}

/** Formats without digits. */
const PLAIN: Readonly<Record<string, (value: Values[string], values: Values) => string>> = {
  "": String,
  time: ms,
  size: (value) => size(Number(value)),
  part: (value) => partIn(parts, String(value)),
  times: timesAsMuch,
  often: (value, { steps }) => howOften(value, steps),
  ",": (value) => Number(value).toLocaleString("en"),
};
const NANOSECONDS: Readonly<Record<string, readonly [string, number]>> = {
  us: ["µs", 1e3],
  ms: ["ms", 1e6],
};

/** Undefined of a format that does not exist. See `words/formats.py`: Chinese needs no words for one and for more. */
function formatted(value: Values[string], format: string, values: Values): string | undefined {
  if (Object.hasOwn(PLAIN, format)) return PLAIN[format]?.(value, values);
  const number = Number(value);
  const [, digits, kind] = /^\.(\d)([fg])$/.exec(format) ?? [];
  if (kind === "f") return number.toFixed(Number(digits));
  if (kind === "g") return String(Number(number.toPrecision(Number(digits))));
  return withUnit(value, format);
}

function withUnit(value: Values[string], format: string): string | undefined {
  const [, unit = "", dot = "", digits = ""] = /^(%|[a-zA-Z]+)(\.?)(\d*)$/.exec(format) ?? [];
  const given = digits === "" ? undefined : Number(digits);
  if (unit === "%") return percent(value, given);
  const bytes = BYTES_PER[unit];
  if (bytes) {
    const count = Number(value) / bytes;
    const text = dot ? count.toFixed(given) : short(count, given ?? (unit === "GiB" ? 2 : 3));
    return `${text} ${unit}`;
  }
  const [symbol, per = 1] = NANOSECONDS[unit] ?? [];
  return symbol && `${(Number(value) / per).toFixed(given ?? 1)} ${symbol}`;
}
