/** Which entries of the palette answer what was typed, and in which order. Pure. */

/** In the order in which equally good ones are listed. */
export const KINDS = [
  "view",
  "action",
  "run",
  "worker",
  "span",
  "step",
  "op",
  "kernel",
  "mod",
] as const;
export type EntryKind = (typeof KINDS)[number];

export interface Entry {
  readonly kind: EntryKind;
  readonly label: string;
  /** The kind in words, and whatever else the entry is found by. */
  readonly about: string;
  /** The keys that do the same. */
  readonly keys?: string;
  /** Listed before anything is typed. */
  readonly first?: boolean;
  readonly run: () => void;
}

/** How well a word fits a text, or null. Both in lower case. */
export function fitness(text: string, word: string): number | null {
  return (occurrence(text, word) ?? scattered(text, word))?.score ?? null;
}

/** Which letters of a label the words are found by. */
export function lettersOf(label: string, words: readonly string[]): Set<number> {
  const text = label.toLowerCase();
  return new Set(
    words.flatMap((word) => (occurrence(text, word) ?? scattered(text, word))?.letters ?? []),
  );
}

/** What was typed as words, in lower case. */
export function wordsOf(query: string): string[] {
  return query.toLowerCase().split(/\s+/).filter(Boolean);
}

interface Match {
  readonly score: number;
  /** Places in the text. */
  readonly letters: readonly number[];
}

/** The best place where a text has the word as it is. */
function occurrence(text: string, word: string): Match | null {
  let best = -1;
  let score = 0;
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
    const starts = startsWord(text, at);
    const ends = at + word.length === text.length;
    // The last word is the name proper: `mm` means aten::mm, not MmBackward0.
    const here = text === word ? 100 : starts && ends ? 90 : at === 0 ? 80 : starts ? 60 : 40;
    if (here > score) [best, score] = [at, here];
  }
  return best < 0 ? null : { score, letters: Array.from(word, (_, i) => best + i) };
}

function startsWord(text: string, at: number): boolean {
  return at === 0 || /[^a-z0-9]/.test(text[at - 1] ?? "");
}

/** Letters in between are allowed, but a few only: names of kernels hold all letters somewhere. */
const SPREAD = 2.5;

/** The letters of a word in their order, beginning where a word of the text begins: `abn` in `aten::batch_norm`. */
function scattered(text: string, word: string): Match | null {
  if (word.length < 2) return null;
  let best: Match | null = null;
  for (let start = text.indexOf(word[0] ?? ""); start >= 0; ) {
    if (startsWord(text, start)) {
      let at = start;
      const letters = [start];
      for (let letter = 1; letter < word.length && at >= 0; letter++) {
        at = nextLetter(text, word[letter] ?? "", at + 1);
        letters.push(at);
      }
      const length = at - start + 1;
      if (at >= 0 && length <= Math.max(word.length * SPREAD, word.length + 10)) {
        const score = (20 * word.length) / length;
        if (score > (best?.score ?? 0)) best = { score, letters };
      }
    }
    start = text.indexOf(word[0] ?? "", start + 1);
  }
  return best;
}

/** The beginning of a word is meant before any letter on the way to it. */
function nextLetter(text: string, letter: string, from: number): number {
  const next = text.indexOf(letter, from);
  for (let at = next; at >= 0 && at < next + 12; at = text.indexOf(letter, at + 1)) {
    if (startsWord(text, at)) return at;
  }
  return next;
}

/** All words must fit the label, or what else the entry is found by; null when one does not. */
function scoreOf(entry: Entry, words: readonly string[]): number | null {
  const label = entry.label.toLowerCase();
  const about = entry.about.toLowerCase();
  let score = 0;
  for (const word of words) {
    const here = fitness(label, word);
    // What stands beside the label narrows the search; it does not decide the order.
    const there = about.includes(word) ? 5 : null;
    if (here === null && there === null) return null;
    score += Math.max(here ?? 0, there ?? 0);
  }
  return score;
}

export interface Found {
  readonly entries: readonly Entry[];
  readonly total: number;
}

/** The best entries; those that were first stay first among equals. */
export function search(entries: readonly Entry[], query: string, most: number): Found {
  const words = wordsOf(query);
  if (words.length === 0) {
    const first = entries.filter((entry) => entry.first);
    return { entries: first.slice(0, most), total: first.length };
  }
  const scored: { entry: Entry; score: number }[] = [];
  for (const entry of entries) {
    const score = scoreOf(entry, words);
    if (score !== null) scored.push({ entry, score });
  }
  scored.sort(
    (a, b) => b.score - a.score || KINDS.indexOf(a.entry.kind) - KINDS.indexOf(b.entry.kind),
  );
  return { entries: scored.slice(0, most).map(({ entry }) => entry), total: scored.length };
}
