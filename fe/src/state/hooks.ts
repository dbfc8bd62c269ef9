import { useCallback, useMemo, useSyncExternalStore } from "react";
import type { TraceKey } from "../api";
import { linkTo, type Params } from "../host";
import { type Comparison, formatTraceName, type TraceName } from "./comparison";
import { applyPatch, type Patch, viewParams, viewPatch } from "./keys";
import { formatPicked, type Picked, parsePicked } from "./picked";
import { paramStore } from "./store";
import { FIRST_VIEW, isViewId, type ViewId } from "./views";

/** The text of one key; what shows it is drawn again when that key changes, and no other. */
export function useText(key: string): string | undefined {
  const store = paramStore();
  return useSyncExternalStore(store.subscribe, () => store.get()[key]);
}

/** Changes several keys of the address at once: one entry of the history at most, and one redraw. */
export function setParams(patch: Patch): void {
  paramStore().set(patch);
}

/** One of a few words; the first is what absence means, and any other text. */
export function useChoice<const T extends string>(
  key: string,
  choices: readonly [T, ...T[]],
): [T, (value: T) => void] {
  const [text, set] = useParam<string>(key, choices[0]);
  return [choices.find((choice) => choice === text) ?? choices[0], set];
}

/** One parameter of the address; `fallback` is what its absence means and is never written. */
export function useParam<T extends string = string>(
  key: string,
  fallback: T,
): [T, (value: T) => void] {
  const value = (useText(key) as T | undefined) ?? fallback;
  const set = useCallback(
    (next: T) => paramStore().set({ [key]: next === fallback ? null : next }),
    [key, fallback],
  );
  return [value, set];
}

export interface TableParams {
  readonly filter: string;
  readonly onFilter: (text: string) => void;
  readonly sort: string;
  readonly onSort: (sort: string) => void;
}

/** Filter and sort of a table: `q` and `o`, of the second table of a view `q2` and `o2`. */
export function useTableParams(which: "" | "2" | "3" = "", order = ""): TableParams {
  const [filter, onFilter] = useParam<string>(`q${which}`, "");
  const [sort, onSort] = useParam<string>(`o${which}`, order);
  return { filter, onFilter, sort, onSort };
}

export function useViewId(): [ViewId, (view: ViewId) => void] {
  const wanted = useText("v");
  return [isViewId(wanted) ? wanted : FIRST_VIEW, goToView];
}

/** How each view looked when it was left. */
const remembered = new Map<ViewId, Params>();

/** `look`: how the view should look, e.g. a filter; wins over how it was left. */
export function goToView(view: ViewId, select?: Picked | null, look: Params = {}): void {
  const store = paramStore();
  const params = store.get();
  const current = isViewId(params.v) ? params.v : FIRST_VIEW;
  if (view !== current) remembered.set(current, viewParams(params));
  store.set({
    ...(view === current ? {} : viewPatch(view, FIRST_VIEW, remembered.get(view) ?? {})),
    ...look,
    ...(select ? { sel: formatPicked(select) } : {}),
  });
}

/** The address of a view, as a fresh start. */
export function linkToView(view: ViewId): string {
  return linkTo(applyPatch(paramStore().get(), viewPatch(view, FIRST_VIEW, {})));
}

export function selectTrace(change: Partial<TraceKey>): void {
  const patch: Record<string, string | null> = leavePart();
  if (change.run !== undefined) patch.r = change.run;
  if (change.worker !== undefined) patch.k = change.worker;
  if (change.span !== undefined) patch.s = change.span;
  paramStore().set(patch);
}

/** Writes what is still waiting, before the page is left. */
export function flushParams(): void {
  paramStore().flush();
}

export interface StepParams {
  /** The name of a rule, and a pattern, exactly as the address has them. */
  rule: string | null;
  pattern: string | null;
}

/** How steps are to be found; every view asks the server accordingly. */
export function useStepParams(): [StepParams, (next: Partial<StepParams>) => void] {
  const [sr, sp] = [useText("sr"), useText("sp")];
  const set = useCallback(
    ({ rule = null, pattern = null }: Partial<StepParams>) =>
      paramStore().set({ sr: rule, sp: pattern }),
    [],
  );
  return [{ rule: sr ?? null, pattern: sp ?? null }, set];
}

/** The first and last step to which the views are limited, as the address has them; see `range.ts`. */
export function useStepRange(): [string | null, (range: string | null) => void] {
  const st = useText("st");
  const set = useCallback((range: string | null) => paramStore().set({ st: range }), []);
  return [st ?? null, set];
}

/** The operator, kernel, module or step that every view marks and the inspector describes. */
export function usePicked(): [Picked | null, (selected: Picked | null) => void] {
  const text = useText("sel");
  const set = useCallback(
    (next: Picked | null) => paramStore().set({ sel: next ? formatPicked(next) : null }),
    [],
  );
  // The object stays the same while it means the same, so that memoised tables do not redraw.
  return [useMemo(() => parsePicked(text), [text]), set];
}

/** A part belongs to the two traces that were compared: with others, everything is shown first. */
function leavePart(): Record<string, null> {
  const { p: _, ...look } = remembered.get("compare") ?? {};
  remembered.set("compare", look);
  return paramStore().get().v === "compare" ? { p: null } : {};
}

/** Compares every view with a trace from now on; null ends it. */
export function setBaseline(baseline: TraceName | null): void {
  paramStore().set({ ...leavePart(), b: baseline && formatTraceName(baseline) });
}

/** What was compared with is shown, and what was shown is compared with. */
export function swapTraces(shown: TraceName, baseline: TraceName): void {
  const { run, worker, span } = baseline;
  paramStore().set({ ...leavePart(), r: run, k: worker, s: span, b: formatTraceName(shown) });
}

/** The part of the comparison that is shown: a path of `/api/compare`. Going into one is a step that Back undoes. */
export function usePart(): [string, (path: string) => void] {
  const path = useText("p") ?? EVERYTHING;
  const open = useCallback(
    (next: string) =>
      paramStore().set({
        v: "compare",
        p: next === EVERYTHING ? null : next,
        // The filter and the page were those of another level.
        q: null,
        n: null,
      }),
    [],
  );
  return [path, open];
}

/** Whether the comparison is of any number of traces, and not of two. */
export function useMany(): [boolean, (many: boolean) => void] {
  const many = useText("x") === "many";
  const set = useCallback(
    (next: boolean) =>
      // Filters and orders were those of other tables.
      paramStore().set({ x: next ? "many" : null, q: null, o: null, q2: null, o2: null }),
    [],
  );
  return [many, set];
}

/** The path of the whole comparison. */
export const EVERYTHING = "0";

/** The address of exactly this page, with the traces spelled out even where they were chosen for us. */
export function linkToPage(trace: TraceKey | null, { set, suggested }: Comparison): string {
  const params = paramStore().get();
  if (!trace) return linkTo(params);
  const patch = { r: trace.run, k: trace.worker, s: trace.span };
  const baseline = params.v === "compare" && !set ? suggested : null;
  return linkTo(
    applyPatch(params, baseline ? { ...patch, b: formatTraceName(baseline.name) } : patch),
  );
}
