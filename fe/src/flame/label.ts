/** What is written into a box. Pure. */
import { withoutParameters } from "../format";

export interface NamedFrame {
  readonly func: string;
  readonly file: string;
  readonly line: number;
}

/** `path(line): function`, as the profiler writes it; null for names that are no frame. */
export function parseFrameName(name: string): NamedFrame | null {
  const match = /^(.*)\((\d+)\):\s*(.*)$/s.exec(name);
  const [, file, line, func] = match ?? [];
  return file && line ? { file, line: Number(line), func: func ?? "" } : null;
}

/** The function first, because the end of a label is what is cut off: `forward · linear.py:134`. */
export function frameLabel(name: string): string {
  const frame = parseFrameName(name);
  if (!frame) return name;
  const base = frame.file.slice(frame.file.search(/[^/\\]*$/));
  return `${frame.func} · ${base}:${frame.line}`;
}

/** `<built-in method randn of type object>` → `randn (built-in)`. */
export function builtinLabel(name: string): string {
  const match = /^<built-in (?:function|method) (\S+?)(?: of .*)?>$/s.exec(name);
  return match ? `${match[1]} (built-in)` : name;
}

/** A kernel without its parameters, which make C++ names long. */
export function kernelLabel(name: string): string {
  return withoutParameters(name.replace(/^void |\(anonymous namespace\)::|\bat::native::/g, ""));
}

const ELLIPSIS = "…";

/** As much of a text as fits; "" when that would say nothing. `measure` gives the width of a text. */
export function fitted(text: string, width: number, measure: (text: string) => number): string {
  if (measure(text) <= width) return text;
  let fits = 0;
  let tooLong = text.length;
  while (tooLong - fits > 1) {
    const middle = (fits + tooLong) >> 1;
    if (measure(text.slice(0, middle) + ELLIPSIS) <= width) fits = middle;
    else tooLong = middle;
  }
  return fits < 2 ? "" : text.slice(0, fits).trimEnd() + ELLIPSIS;
}
