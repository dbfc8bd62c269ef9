/** Filtering and moving inside a combo box. Pure. */
import { jump } from "./keys";

const PAGE = 10;

export interface Option {
  value: string;
  label: string;
  /** Small print, e.g. the rank, or that it is still loading. */
  detail?: string;
  /** The whole of what `label` says in short: shown on hover, found by the filter. */
  title?: string;
}

/** All words must occur, in any order and case. */
export function matching(options: readonly Option[], filter: string): Option[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  return options.filter((option) => {
    const { label, detail = "", title = "" } = option;
    const said = `${label} ${detail} ${title}`.toLowerCase();
    return words.every((word) => said.includes(word));
  });
}

/** The next active index for a key, or null when the key means nothing here. */
export function move(key: string, active: number, length: number): number | null {
  if (length === 0) return null;
  switch (key) {
    case "ArrowDown":
      return (active + 1) % length;
    case "ArrowUp":
      return (active - 1 + length) % length;
    default:
      return jump(key, active, length, PAGE);
  }
}
