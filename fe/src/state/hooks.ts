import { useCallback, useMemo, useSyncExternalStore } from "react";
import type { TraceKey } from "../api";
import { awaitInSight, type Params } from "../host";
import { applyChanges, type Change, change, type Param } from "./address";
import { type Comparison, formatTraceName, type TraceName } from "./comparison";
import { page } from "./page";
import type { Picked } from "./picked";
import { addressOf, paramStore } from "./store";
import {
  allViews,
  clearChanges,
  FIRST_VIEW,
  isViewId,
  lookChanges,
  paramsOf,
  type ViewId,
  type ViewLook,
  type ViewParams,
} from "./views";

/**
 * One parameter of the address. What shows it is drawn again when its text changes, and no other; the value stays the
 * same object while the text does.
 */
export function useAddress<T>(param: Param<T>): [T, (value: T) => void] {
  const store = paramStore();
  const text = useSyncExternalStore(store.subscribe, () => store.get()[param.key] ?? "");
  const value = useMemo(() => param.parse(text), [param, text]);
  const set = useCallback((next: T) => paramStore().set(change(param, next)), [param]);
  return [value, set];
}

/** Changes several parameters at once: one entry of the history at most, and one redraw. */
export function setAddress(...changes: readonly Change[]): void {
  paramStore().set(...changes);
}

interface TableParams {
  readonly filter: string;
  readonly onFilter: (text: string) => void;
  readonly sort: string;
  readonly onSort: (sort: string) => void;
}

/** Filter and order of a table. `order`: what is usual where that depends on the answer; it is not written. */
export function useTableParams(
  filterParam: Param<string>,
  sortParam: Param<string>,
  order = "",
): TableParams {
  const [filter, onFilter] = useAddress(filterParam);
  const [sort, setSort] = useAddress(sortParam);
  const onSort = useCallback(
    (next: string) => setSort(next === order ? "" : next),
    [setSort, order],
  );
  return { filter, onFilter, sort: sort || order, onSort };
}

export function useViewId(): [ViewId, (view: ViewId) => void] {
  const [wanted] = useAddress(page.view);
  return [isViewId(wanted) ? wanted : FIRST_VIEW, goToView];
}

/** How each view looked when it was left. */
const remembered = new Map<ViewId, Params>();

function currentView(): ViewId {
  const wanted = page.view.parse(paramStore().get()[page.view.key] ?? "");
  return isViewId(wanted) ? wanted : FIRST_VIEW;
}

/** What to write to go to another view, with what that one looked like when it was left. */
function viewChanges(view: ViewId, look: Params): Change[] {
  return [
    ...clearChanges(),
    ...Object.entries(look).map(([key, text]) => ({ key, text, isStep: false })),
    change(page.view, view === FIRST_VIEW ? "" : view),
  ];
}

/** `look`: how the view should look, e.g. its filter; wins over how it was left. */
export function goToView(view: ViewId, select?: Picked | null): void;
export function goToView<Id extends keyof ViewParams>(
  view: Id,
  select?: Picked | null,
  look?: ViewLook<Id>,
): void;
export function goToView(view: ViewId, select?: Picked | null, look: object = {}): void {
  const current = currentView();
  const picked = select ?? page.picked.parse(paramStore().get()[page.picked.key] ?? "");
  awaitInSight(picked?.name ?? null);
  if (view !== current) remembered.set(current, paramsOf(current, paramStore().get()));
  setAddress(
    ...(view === current ? [] : viewChanges(view, remembered.get(view) ?? {})),
    ...lookChanges(view, look),
    ...(select ? [change(page.picked, select)] : []),
  );
}

/** The address of a view, as a fresh start. */
export function linkToView(view: ViewId): string {
  return addressOf(applyChanges(paramStore().get(), viewChanges(view, {})));
}

export function selectTrace({ run, worker, span }: Partial<TraceKey>): void {
  setAddress(
    ...leaveTraces(),
    ...(run === undefined ? [] : [change(page.run, run)]),
    ...(worker === undefined ? [] : [change(page.worker, worker)]),
    ...(span === undefined ? [] : [change(page.span, span)]),
  );
}

/** Writes what is still waiting, before the page is left. */
export function flushParams(): void {
  paramStore().flush();
}

/** How steps are to be found; every view asks the server accordingly. */
interface StepParams {
  /** The name of a rule, and a pattern, exactly as the address has them. */
  rule: string | null;
  pattern: string | null;
}

export function useStepParams(): [StepParams, (next: Partial<StepParams>) => void] {
  const [rule] = useAddress(page.stepRule);
  const [pattern] = useAddress(page.stepPattern);
  const set = useCallback(
    (next: Partial<StepParams>) =>
      setAddress(
        change(page.stepRule, next.rule ?? null),
        change(page.stepPattern, next.pattern ?? null),
      ),
    [],
  );
  return [{ rule, pattern }, set];
}

/** The operator, kernel, module or step that every view marks and the inspector describes. */
export function usePicked(): [Picked | null, (selected: Picked | null) => void] {
  return useAddress(page.picked);
}

/** Of every view what is about the traces that were shown: with others, it begins anew. */
function leaveTraces(): Change[] {
  const now = currentView();
  return allViews().flatMap(({ id, params = {} }) => {
    const gone = Object.values(params).filter(({ ofTraces }) => ofTraces);
    if (gone.length === 0) return [];
    const changes = gone.map(({ key }) => ({ key, text: "", isStep: false }));
    remembered.set(id, applyChanges(remembered.get(id) ?? {}, changes));
    return id === now ? changes : [];
  });
}

/** Compares every view with a trace from now on; null ends it. */
export function setBaseline(baseline: TraceName | null): void {
  setAddress(...leaveTraces(), change(page.baseline, baseline && formatTraceName(baseline)));
}

/** What was compared with is shown, and what was shown is compared with. */
export function swapTraces(shown: TraceName, baseline: TraceName): void {
  setAddress(
    ...leaveTraces(),
    ...traceChanges(baseline),
    change(page.baseline, formatTraceName(shown)),
  );
}

function traceChanges({ run, worker, span }: TraceName): Change[] {
  return [change(page.run, run), change(page.worker, worker), change(page.span, span)];
}

/** The address of exactly this page, with the traces spelled out even where they were chosen for us. */
export function linkToPage(trace: TraceKey | null, { set, suggested }: Comparison): string {
  const params = paramStore().get();
  if (!trace) return addressOf(params);
  const baseline = currentView() === "compare" && !set ? suggested : null;
  return addressOf(
    applyChanges(params, [
      ...traceChanges(trace),
      ...(baseline ? [change(page.baseline, formatTraceName(baseline.name))] : []),
    ]),
  );
}
