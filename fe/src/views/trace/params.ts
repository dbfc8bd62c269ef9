/** The parameters of this view in the address. */
import { choice, flag, furtherTableParams, list, param, text, whole } from "../../state/address";
import { COLOR_BY } from "../../timeline/colorBy";
import { BOOKMARKS, DERIVED, EVENT, type FlowMode, MARK, SLACK, WINDOW } from "./look";

export const params = {
  window: param("t", WINDOW),
  /** The selected event. */
  event: param("e", EVENT),
  /** The slice from which to the selected one is measured. */
  from: param("from", EVENT),
  /** The marked range. */
  mark: param("a", MARK),
  bookmarks: param("y", BOOKMARKS),
  /** Ranks beside the one that is shown. */
  workers: param("w", list),
  search: param("q", text()),
  searchMode: param("j", choice(["text", "regex"])),
  colorBy: param("c", choice(COLOR_BY)),
  flows: param("m", choice<FlowMode>(["selected", "off", "all"])),
  /** The shortest duration, as it was typed; see `leastOf`. */
  least: param("h", text()),

  // Tracks, by their keys: folded or unfolded, in sight always, hidden, in an order of their own; and what they are called.
  toggled: param("x", list),
  pinned: param("p", list),
  hidden: param("d", list),
  order: param("o", list),
  tracks: param("f", text()),

  /** Lanes that are computed; from which slack on slices are dimmed; the finding whose instances are marked. */
  derived: param("u", DERIVED),
  slack: param("i", SLACK),
  finding: param("mark", text()),
  /** The record of a memory snapshot that is looked at; see `parseRecord`. */
  record: param("mem", text()),

  /** The list of slices, its category and its page, from 0. */
  list: param("l", flag),
  category: param("g", text()),
  page: param("n", whole(0)),

  /** Sums over the marked range. */
  ...furtherTableParams(2, "sums"),
};
