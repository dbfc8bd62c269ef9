/** Texts that are cut to the room there is for them. Pure. */
import { bareName, onOneLine, withoutParameters } from "../format";

/**
 * Keeps both ends of a long name: kernels of one family differ at the end. What every C++ name has in common goes
 * first: the return type, the namespaces of PyTorch and the parameters.
 */
export function shorten(name: string, length: number): string {
  const text = onOneLine(name);
  if (text.length <= length) return text;
  const bare = bareName(withoutParameters(text));
  if (bare.length <= length) return bare;
  const tail = Math.floor((length - 1) / 3);
  return `${bare.slice(0, length - 1 - tail)}…${bare.slice(bare.length - tail)}`;
}

/** For names that differ at their beginning, as those of parts do. */
export function head(name: string, length: number): string {
  const text = onOneLine(name);
  return text.length <= length ? text : `${text.slice(0, Math.max(0, length - 1))}…`;
}

/** The longest text that `cut` makes and that is not wider than `width` pixels. */
export function fitted(
  text: string,
  width: number,
  measure: (text: string) => number,
  cut: (text: string, length: number) => string,
): string {
  let length = text.length;
  let shown = text;
  for (let wide = measure(shown); wide > width && length > 1; wide = measure(shown)) {
    // Letters are not equally wide: near the end one by one.
    length = Math.max(1, Math.min(length - 1, Math.ceil((shown.length * width) / wide)));
    shown = cut(text, length);
  }
  return shown;
}
