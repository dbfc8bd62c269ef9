/** Numbers stay beside their units, wherever a sentence is broken into lines. */
export function unbroken(sentence: string): string {
  return sentence.replace(/(\d) (?=%|[nµm]?s\b|[kMGTPE]?FLOP\b|[KMGT]?i?B\b)/g, "$1\u00a0");
}
