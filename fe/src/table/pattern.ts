const LONGEST = 200;

/** Texts of the refusals of `checkPattern`. */
interface PatternTexts {
  readonly tooLong: (most: number) => string;
  readonly unknown: (what: string) => string;
}

/**
 * Whether a regular expression is one. The server, which searches large tables, knows what engines understand alike; the
 * rest is refused here, too (`tables/query/pattern.py`). Only `matchNames` may match it: it can run for years.
 * Throws an Error that says why not.
 */
export function checkPattern(source: string, texts: PatternTexts): void {
  if (source.length > LONGEST) throw new Error(texts.tooLong(LONGEST));
  const strange = unknownPart(source);
  if (strange !== null) throw new Error(texts.unknown(strange));
  new RegExp(source, "i");
}

const KNOWN_ESCAPE =
  /^\\(?:[bdDwWsSnrtfv]|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|0(?![0-9])|[^A-Za-z0-9])/;

function unknownPart(source: string): string | null {
  let inClass = false;
  for (let at = 0; at < source.length; at++) {
    const char = source.charAt(at);
    const rest = source.slice(at);
    if (char === "\\") {
      const known = KNOWN_ESCAPE.test(rest) || (!inClass && /^\\B/.test(rest));
      // An expression that ends with a backslash is refused by the engine.
      if (rest.length > 1 && !known) return rest.slice(0, 2);
      at++;
    } else if (inClass) {
      inClass = char !== "]";
    } else if (char === "[") {
      inClass = true;
    } else if (/^\(\?[^:]/.test(rest)) {
      return rest.slice(0, 3);
    }
  }
  return null;
}
