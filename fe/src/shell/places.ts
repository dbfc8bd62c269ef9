/** Where selected things can be seen. The one place that knows how views are to look for that. Pure. */
import type { TraceStatus } from "../api";
import { equals } from "../format";
import type { Params } from "../host";
import { findView, type Picked, type PickedKind, type ViewId } from "../state";

export interface Place {
  readonly view: ViewId;
  /** How the view is to look. */
  readonly look: Params;
}

export function hasData(view: ViewId, trace: TraceStatus | null): boolean {
  if (trace?.state !== "ready" || !findView(view)?.mayLackData) return true;
  return trace.views.includes(view);
}

/** The first place is where it is a row. A filter of before could hide it there, so it is taken off. */
const PLACES: Record<PickedKind, (name: string) => readonly Place[]> = {
  op: (name): readonly Place[] => [
    { view: "operators", look: { q: "" } },
    { view: "kernels", look: { g: "name_op_launch", q: equals("operator", name) } },
    { view: "trace", look: longestSlice(name) },
    { view: "stacks", look: { q: equals("name", name) } },
    { view: "memory", look: { g: "operators", q: equals("name", name) } },
  ],
  kernel: (name): readonly Place[] => [
    { view: "kernels", look: { q: "" } },
    { view: "trace", look: longestSlice(name) },
    { view: "stacks", look: { q: equals("name", name) } },
  ],
  mod: (path): readonly Place[] => {
    const name = lastName(path);
    return [
      { view: "modules", look: { q: "" } },
      { view: "trace", look: longestSlice(`nn.Module: ${name}`) },
      { view: "stacks", look: { q: equals("name", name) } },
    ];
  },
  // Where else depends on when it was: its own part of the drawer says so.
  step: (): readonly Place[] => [{ view: "steps", look: { q: "" } }],
};

/** The timeline at the longest slice of a name, selected; in `window` (`start-end`, ns), else around it. */
export function longestSlice(name: string, window = ""): Params {
  return { e: `longest:${name}`, t: window, q: "" };
}

/** A module is selected by its path, `Net_0/Linear#3`; elsewhere it goes by its name. */
function lastName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1).replace(/#\d+$/, "");
}

export function placesOf({ kind, name }: Picked, trace: TraceStatus | null): readonly Place[] {
  return PLACES[kind](name).filter(({ view }) => hasData(view, trace));
}
