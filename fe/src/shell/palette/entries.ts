/** What the palette offers. */
import { useQueryClient } from "@tanstack/react-query";
import { useMemo } from "react";
import { type ModulesTable, reportMade, type Status, tables, useModules } from "../../api";
import { duration } from "../../format";
import { canSave, inTensorBoard, type ThemeChoice, useThemeChoice } from "../../host";
import { dialogsTexts, LANGUAGES, type LanguageId, t } from "../../i18n";
import {
  allViews,
  type CurrentTrace,
  formatRange,
  goToView,
  type Picked,
  type PickedKind,
  page,
  selectTrace,
  spansOf,
  useAddress,
  usePicked,
  workersOf,
} from "../../state";
import { textAt, useWhole } from "../../table";
import { chooseFiles } from "../drop";
import { modulePath } from "../modulePath";
import { placesOf } from "../places";
import { hasData, isOf } from "../presence";
import { switchLanguage } from "../switchLanguage";
import type { Commands } from "./commands";
import type { Entry, EntryKind } from "./search";

const text = dialogsTexts.palette;

interface Offer {
  readonly entries: readonly Entry[];
  /** More may come. */
  readonly loading: boolean;
}

export function useEntries(
  status: Status | undefined,
  current: CurrentTrace,
  commands: Commands,
): Offer {
  const actions = useActions(current, commands);
  const places = useMemo(() => placeEntries(status, current), [status, current]);
  const { entries: things, loading } = useThings(current);
  const entries = useMemo(() => [...places, ...actions, ...things], [places, actions, things]);
  return { entries, loading };
}

/** Views, runs, workers, spans and steps: known without asking. */
function placeEntries(status: Status | undefined, { run, trace, steps }: CurrentTrace): Entry[] {
  const ofFile = allViews().filter(({ id }) => isOf(id, trace, run));
  const workers = run ? workersOf(run) : [];
  const spans = run && trace ? spansOf(run, trace.worker) : [];
  return [
    ...ofFile.map(({ id, name, key }): Entry => {
      const keys = `g ${key}`;
      const about = `${text.kinds.view} ${id}`;
      return {
        kind: "view",
        label: name,
        about,
        keys,
        first: true,
        run: () => goToView(id),
      };
    }),
    ...(status?.runs ?? []).map(({ name }) => entry("run", name, () => selectTrace({ run: name }))),
    ...workers.map((worker) => entry("worker", worker, () => selectTrace({ worker }))),
    ...(spans.length > 1 ? spans : []).map(({ span }) =>
      entry("span", span, () => selectTrace({ span })),
    ),
    ...(steps?.names ?? []).map(
      (name, at): Entry => ({
        kind: "step",
        label: t.range.step(name, duration(steps?.duration_ns[at])),
        about: text.kinds.step,
        run: () => open({ kind: "step", name }),
      }),
    ),
  ];
}

/** Operators, kernels and modules, asked for when the palette is opened for the first time. */
function useThings({ sel, trace }: CurrentTrace): Offer {
  const launching = hasData("kernels", trace) ? sel : null;
  const operators = useWhole(tables.operators(sel));
  const kernels = useWhole(tables.kernels(launching));
  const modules = useModules(hasData("modules", trace) ? sel : null);
  const entries = useMemo(
    () => [
      ...named("op", operators.data?.rows.name),
      ...named("kernel", kernels.data?.rows.name),
      ...(modules.data ? moduleEntries(modules.data) : []),
    ],
    [operators.data, kernels.data, modules.data],
  );
  const loading = [operators, kernels, modules].some(({ isFetching }) => isFetching);
  return { entries, loading };
}

function named(kind: PickedKind, names: readonly unknown[] | undefined): Entry[] {
  const distinct = new Set((names ?? []).filter((name) => typeof name === "string"));
  return [...distinct].map((name) => entry(kind, name, () => open({ kind, name })));
}

/** A module is selected by its path, since its name may occur in several places. */
function moduleEntries(modules: ModulesTable): Entry[] {
  return (modules.rows.name ?? []).map((_, row) => {
    const path = modulePath(modules, row);
    const label = textAt(modules.rows, "name", row);
    const about = `${text.kinds.mod} ${path}`;
    return { kind: "mod", label, about, run: () => open({ kind: "mod", name: path }) };
  });
}

function useActions(current: CurrentTrace, commands: Commands): Entry[] {
  const client = useQueryClient();
  const [theme, setTheme] = useThemeChoice();
  const [, setRange] = useAddress(page.steps);
  const [selected, setSelected] = usePicked();
  const { range, steps } = current;
  const only = selected?.kind === "step" ? (steps?.names.indexOf(selected.name) ?? -1) : -1;
  const themes: ThemeChoice[] = ["auto", "light", "dark"];
  const languages = Object.keys(LANGUAGES) as LanguageId[];
  return [
    action(text.copyLink, commands.copyLink),
    ...(reportMade() === null ? [action(text.refresh, commands.refresh)] : []),
    ...(inTensorBoard() || reportMade() !== null
      ? []
      : [action(text.openFile, () => chooseFiles(client))]),
    ...(current.sel && canSave() && reportMade() === null
      ? [action(text.report, commands.report)]
      : []),
    ...(range ? [action(t.range.clear, () => setRange(null))] : []),
    ...(steps && only >= 0
      ? [
          action(dialogsTexts.inspector.onlyStep, () =>
            setRange(formatRange(steps.names, { first: only, last: only })),
          ),
        ]
      : []),
    ...(selected ? [action(dialogsTexts.inspector.close, () => setSelected(null), "Esc")] : []),
    ...themes
      .filter((each) => each !== theme)
      .map((each) => action(text.theme(t.bar.themes[each]), () => setTheme(each))),
    ...languages
      .filter((each) => each !== t.lang)
      .map((each) => action(text.language(LANGUAGES[each]), () => switchLanguage(each))),
    action(t.files.title, commands.files),
    ...(current.sel ? [action(text.notes, commands.notes)] : []),
    action(dialogsTexts.keys.title, commands.keys, "?"),
  ];
}

function open(selected: Picked): void {
  const [home] = placesOf(selected, null);
  if (home) goToView(home.view, selected, home.look);
}

function entry(kind: EntryKind, label: string, run: () => void): Entry {
  return { kind, label, about: text.kinds[kind], run };
}

function action(label: string, run: () => void, keys?: string): Entry {
  return { ...entry("action", label, run), first: true, ...(keys ? { keys } : {}) };
}
