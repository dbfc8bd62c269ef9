import { useCallback, useMemo, useSyncExternalStore } from "react";
import type { TraceKey } from "../api";
import { linkTo, type Params } from "../host";
import { applyPatch, viewParams, viewPatch } from "./keys";
import { formatSelected, parseSelected, type Selected } from "./select";
import { paramStore } from "./store";
import { FIRST_VIEW, isViewId, type ViewId } from "./views";

export function useParams(): Params {
  const store = paramStore();
  return useSyncExternalStore(store.subscribe, store.get);
}

/** One parameter of the address; `fallback` is what its absence means and is never written. */
export function useParam<T extends string = string>(
  key: string,
  fallback: T,
): [T, (value: T) => void] {
  const value = (useParams()[key] as T | undefined) ?? fallback;
  const set = useCallback(
    (next: T) => paramStore().set({ [key]: next === fallback ? null : next }),
    [key, fallback],
  );
  return [value, set];
}

export function useViewId(): [ViewId, (view: ViewId) => void] {
  const wanted = useParams().v;
  return [isViewId(wanted) ? wanted : FIRST_VIEW, goToView];
}

/** How each view looked when it was left. */
const remembered = new Map<ViewId, Params>();

/** `look`: how the view should look, e.g. a filter; wins over how it was left. */
export function goToView(view: ViewId, select?: Selected | null, look: Params = {}): void {
  const store = paramStore();
  const params = store.get();
  const current = isViewId(params.v) ? params.v : FIRST_VIEW;
  if (view !== current) remembered.set(current, viewParams(params));
  store.set({
    ...(view === current ? {} : viewPatch(view, FIRST_VIEW, remembered.get(view) ?? {})),
    ...look,
    ...(select ? { sel: formatSelected(select) } : {}),
  });
}

/** The address of a view, as a fresh start. */
export function linkToView(view: ViewId): string {
  return linkTo(applyPatch(paramStore().get(), viewPatch(view, FIRST_VIEW, {})));
}

export function selectTrace(change: Partial<TraceKey>): void {
  const patch: Record<string, string | null> = {};
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
  const { sr, sp } = useParams();
  const set = useCallback(
    ({ rule = null, pattern = null }: Partial<StepParams>) =>
      paramStore().set({ sr: rule, sp: pattern }),
    [],
  );
  return [{ rule: sr ?? null, pattern: sp ?? null }, set];
}

/** The first and last step to which the views are limited, as the address has them; see `range.ts`. */
export function useStepRange(): [string | null, (range: string | null) => void] {
  const { st } = useParams();
  const set = useCallback((range: string | null) => paramStore().set({ st: range }), []);
  return [st ?? null, set];
}

/** The operator, kernel, module or step that every view marks and the inspector describes. */
export function useSelected(): [Selected | null, (selected: Selected | null) => void] {
  const text = useParams().sel;
  const set = useCallback(
    (next: Selected | null) => paramStore().set({ sel: next ? formatSelected(next) : null }),
    [],
  );
  // The object stays the same while it means the same, so that memoised tables do not redraw.
  return [useMemo(() => parseSelected(text), [text]), set];
}

/** The address of exactly this page, with the trace spelled out even where it was chosen for us. */
export function linkToPage(trace: TraceKey | null): string {
  const params = paramStore().get();
  if (!trace) return linkTo(params);
  return linkTo(applyPatch(params, { r: trace.run, k: trace.worker, s: trace.span }));
}
