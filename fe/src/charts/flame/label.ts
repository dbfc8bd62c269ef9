/** As much of a label as fits. Pure. */

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
