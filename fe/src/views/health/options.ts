/** Which parts of a recording a trace has. Pure. */
import type { Capture } from "../../api";

const OPTION_IDS = [
  "cpu",
  "device",
  "steps",
  "record_shapes",
  "with_stack",
  "profile_memory",
  "with_modules",
  "with_flops",
] as const;
type OptionId = (typeof OPTION_IDS)[number];

/** `empty`: the header says it was on, but there is nothing of it. */
type OptionState = "found" | "empty" | "missing";

interface OptionRow {
  id: OptionId;
  state: OptionState;
  /** Events that are there thanks to it; null where none are to be expected. */
  events: number | null;
}

const HOST = ["operator", "user_annotation"];
const DEVICE = ["kernel", "memcpy", "memset"];
const NOT_MARKED = ["optimizer", "repeated_module", "repeated_kernels", "whole_trace", "none"];

export function optionRows(capture: Capture): OptionRow[] {
  return OPTION_IDS.map((id) => {
    const events = eventsOf(id, capture);
    const on = capture.options[id] === true;
    if (events === null) return { id, state: on ? "found" : "missing", events };
    return { id, state: events > 0 ? "found" : on ? "empty" : "missing", events };
  });
}

function eventsOf(id: OptionId, capture: Capture): number | null {
  if (id === "cpu") return countOf(capture, HOST);
  if (id === "device") return countOf(capture, DEVICE);
  if (id === "steps") return NOT_MARKED.includes(capture.step_rule) ? 0 : capture.steps;
  return capture.found[id] ?? null;
}

function countOf({ categories }: Capture, wanted: readonly string[]): number {
  return categories
    .filter(({ category }) => wanted.includes(category))
    .reduce((total, { events }) => total + events, 0);
}
