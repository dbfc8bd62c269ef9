/** Names of frames and kernels, as short as a label needs them. Pure. */
import { apart } from "../i18n/apart";
import { withoutParameters } from "./cpp";

/** Characters of a name within a sentence. */
const SPOKEN = 300;

/** As a part of a sentence: without the middle of a long one, and apart from the numbers beside it where it is read from the right. */
export function inSentence(name: string): string {
  const halves = [name.slice(0, SPOKEN / 2), name.slice(-SPOKEN / 2)];
  const short = name.length <= SPOKEN ? name : halves.join("…").replace(/\p{Cs}/gu, "");
  return apart(short) === short ? short : `\u2068${short}\u2069`;
}

interface NamedFrame {
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
