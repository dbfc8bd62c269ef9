/** Where selected things can be seen. The one place that knows how views are to look for that. Pure. */
import type { TraceStatus } from "../api";
import type { TimeWindow } from "../draw";
import { equals } from "../format";
import type { Picked, PickedKind, ViewLook, ViewParams } from "../state";
import { hasData } from "./presence";

/** A view, and how it is to look. */
export type Place = {
  [Id in keyof ViewParams]: { readonly view: Id; readonly look: ViewLook<Id> };
}[keyof ViewParams];

/** The first place is where it is a row. A filter of before could hide it there, so it is taken off. */
const PLACES: Record<PickedKind, (name: string) => readonly Place[]> = {
  op: (name): readonly Place[] => [
    { view: "operators", look: { filter: "" } },
    { view: "kernels", look: { group: "name_op_launch", filter: equals("operator", name) } },
    { view: "trace", look: longestSlice(name) },
    { view: "stacks", look: { filter: equals("name", name) } },
    { view: "memory", look: { tab: "operators", filter: equals("name", name) } },
  ],
  kernel: (name): readonly Place[] => [
    { view: "kernels", look: { filter: "" } },
    { view: "trace", look: longestSlice(name) },
    { view: "stacks", look: { filter: equals("name", name) } },
  ],
  mod: (path): readonly Place[] => {
    const name = lastName(path);
    return [
      { view: "modules", look: { filter: "" } },
      { view: "trace", look: longestSlice(`nn.Module: ${name}`) },
      { view: "stacks", look: { filter: equals("name", name) } },
    ];
  },
  // Where else depends on when it was: its own part of the drawer says so.
  step: (): readonly Place[] => [{ view: "steps", look: { filter: "" } }],
};

/** The timeline at the longest slice of a name, selected; in `window` (ns), else around it. */
export function longestSlice(name: string, window: TimeWindow | null = null): ViewLook<"trace"> {
  return { event: { type: "longest", name }, window, search: "" };
}

/** A module is selected by its path, `Net_0/Linear#3`; elsewhere it goes by its name. */
function lastName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1).replace(/#\d+$/, "");
}

export function placesOf({ kind, name }: Picked, trace: TraceStatus | null): readonly Place[] {
  return PLACES[kind](name).filter(({ view }) => hasData(view, trace));
}
