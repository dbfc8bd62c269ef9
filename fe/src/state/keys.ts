/**
 * The keys of a deep link (all state of the page is in the URL).
 *
 * z schema · v view · r, k, s run, rank (worker), span · st first and last step, `5~10` ·
 * sel selection · u theme override ·
 * sr, sp how steps are found: the name of a rule, a pattern of annotation names · b the trace that is
 * compared with, `run~rank~span`; the rest
 * belongs to the view that is shown: g group-by · q filter · o sort · d device · t time window ·
 * p pinned, a part, or paths of files · x expanded · m metric · n top N · c chart · f what is zoomed into ·
 * q2, o2, q3, o3 filter and sort of further tables · of the timeline: e selected event, a marked range, h shortest
 * duration, j how names are searched, w ranks beside the one shown, y bookmarks, l list. A view may use a letter for something of its own; its README
 * says so.
 */
import type { Params } from "../host";

/** `null` removes a key, which is how a default is written. */
export type Patch = Readonly<Record<string, string | null>>;

export const SCHEMA = "1";

/** Mean something different in every view, so they are put aside when the view changes. */
export const VIEW_KEYS: readonly string[] = [
  "g",
  "q",
  "o",
  "d",
  "t",
  "p",
  "x",
  "m",
  "n",
  "c",
  "f",
  "q2",
  "o2",
  "q3",
  "o3",
  "e",
  "a",
  "h",
  "j",
  "w",
  "y",
  "l",
];

/** Changing one of these is a step that Back should undo; everything else is adjusted in place. */
const STEP_KEYS: readonly string[] = ["v", "r", "k", "s", "st", "b"];

export function isStep(patch: Patch): boolean {
  return STEP_KEYS.some((key) => key in patch);
}

export function applyPatch(params: Params, patch: Patch): Params {
  const next: Record<string, string> = { ...params };
  for (const [key, value] of Object.entries(patch)) {
    if (value === null || value === "") delete next[key];
    else next[key] = value;
  }
  return next;
}

export function sameParams(a: Params, b: Params): boolean {
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => a[key] === b[key]);
}

/** The keys of the view being left, to be given back when the user returns to it. */
export function viewParams(params: Params): Params {
  return Object.fromEntries(Object.entries(params).filter(([key]) => VIEW_KEYS.includes(key)));
}

/** What to change to go to `view`, with what that view looked like when it was left. */
export function viewPatch(view: string, fallback: string, remembered: Params): Patch {
  const cleared = Object.fromEntries(VIEW_KEYS.map((key) => [key, null]));
  return { ...cleared, ...remembered, v: view === fallback ? null : view };
}
