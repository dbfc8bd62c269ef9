/** What the page knows of its views. Each says it of itself, in `views/<id>/view.ts`. */
import type { ComponentType } from "react";
import type { Params } from "../host";
import { type Change, change, type Param, type ParamSet } from "./address";
import type { PickedKind } from "./picked";

export type ViewId = string;
type GroupId =
  | "summary"
  | "time"
  | "efficiency"
  | "memory"
  | "ranks"
  | "program"
  | "compare"
  | "capture";

export interface View {
  /** Its name in addresses, and in what the server says of a trace. */
  readonly id: ViewId;
  readonly name: string;
  /** Under which title the rail has it. */
  readonly group: GroupId;
  /** The letter that goes there after `g`. */
  readonly key: string;
  /** The number key that goes there, of those that have one. */
  readonly digit?: 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9;
  /** Its sign: a path on a grid of 16 × 16. */
  readonly icon: string;
  /** Its parameters of the address; put aside when the user leaves it, and given back. */
  readonly params?: ParamSet;
  /** The server says whether a trace has something for it; the others always have. */
  readonly mayLackData?: boolean;
  /** Only some servers have it: they say so of each trace, as of what was recorded. What is said where one has not. */
  readonly onlyIfOffered?: {
    readonly title: string;
    readonly reason: string;
    readonly remedy: string;
  };
  /** It is about the file as a whole, whatever steps are looked at. */
  readonly wholeFile?: boolean;
  /** It fills the room, and draws the line with its name itself: see `shell/ViewHead`. */
  readonly hasHead?: boolean;
  /** It shows the baseline beside the trace. */
  readonly compares?: boolean;
  /** A report cannot show it. */
  readonly needsServer?: boolean;
  readonly load: () => Promise<{ default: ComponentType<object> }>;
  /** What describes one of its rows in the drawer: things of this kind are at home here. */
  readonly inspector?: {
    readonly kind: PickedKind;
    readonly load: () => Promise<{ default: ComponentType<{ name: string }> }>;
  };
}

let registered: readonly View[] = [];

/** To be called once, before anything is drawn. In the order of the rail. */
export function setViews(views: readonly View[]): void {
  registered = views;
}

export function allViews(): readonly View[] {
  return registered;
}

export function findView(id: string | undefined): View | undefined {
  return registered.find((view) => view.id === id);
}

export function isViewId(text: string | undefined): text is ViewId {
  return findView(text) !== undefined;
}

export function viewName(id: ViewId): string {
  return findView(id)?.name ?? id;
}

/** Views by what they are about. */
export function viewGroups(views: readonly View[]): { id: GroupId; views: View[] }[] {
  const ids = [...new Set(views.map(({ group }) => group))];
  return ids.map((id) => ({ id, views: views.filter(({ group }) => group === id) }));
}

export const FIRST_VIEW: ViewId = "overview";

/** The parameters of each view that has some, by its id. `views/registry.ts` adds them: no view is known here. */
// biome-ignore lint/suspicious/noEmptyInterface: filled there
export interface ViewParams {}

/** How a view is to look: values by the names of its parameters. */
export type ViewLook<Id extends keyof ViewParams> = Id extends unknown
  ? { readonly [Name in keyof ViewParams[Id]]?: ValueOf<ViewParams[Id][Name]> }
  : never;

type ValueOf<P> = P extends Param<infer T> ? T : never;

/** What to write for that. Throws where the view has no such parameter. */
export function lookChanges(id: ViewId, look: object): Change[] {
  const params = findView(id)?.params ?? {};
  return Object.entries(look).map(([name, value]) => {
    const found = params[name];
    if (!found) throw new Error(`the view ${id} has no parameter ${name}`);
    return change(found, value);
  });
}

/** What to write to take away all that belongs to views. */
export function clearChanges(): Change[] {
  const keys = new Set(
    registered.flatMap(({ params }) => Object.values(params ?? {}).map(({ key }) => key)),
  );
  return [...keys].map((key) => ({ key, text: "", isStep: false }));
}

/** The part of an address that belongs to a view. */
export function paramsOf(id: ViewId, params: Params): Params {
  const keys = new Set(Object.values(findView(id)?.params ?? {}).map(({ key }) => key));
  return Object.fromEntries(Object.entries(params).filter(([key]) => keys.has(key)));
}
