import { useCallback, useMemo } from "react";
import { type ModuleSource, type ModulesTable, useModules } from "../../api";
import { Treemap } from "../../charts";
import { type FlameEntries, type FlameKind, useLayout, ZoomedFlame } from "../../charts/flame";
import { hash } from "../../draw";
import { duration, fraction } from "../../format";
import { stacksTexts, modulesTexts as text } from "../../i18n";
import { longestSlice, modulePath, rowOfModule } from "../../shell";
import { goToView, useAddress, usePicked, useTableParams, useTrace } from "../../state";
import {
  numberAt,
  rowCount,
  SimpleTable,
  type Table,
  TreeTable,
  textAt,
  useMatches,
} from "../../table";
import { Button, Empty, Flow, Link, Panel, QueryPanel, Segmented } from "../../ui";
import { byClass, distinctNames } from "./classes";
import { hookTable, moduleTable } from "./columns";
import {
  chosenMetric,
  hottestClass,
  type Metric,
  metricsOf,
  openAtFirst,
  ownMetric,
  ownValues,
  wholeOf,
} from "./metrics";
import { moduleClass } from "./moduleClass";
import { params } from "./params";
import "./modules.css";

/** `usual`: the source that is shown unless another is chosen. */
export function ModulesView({ usual }: { usual: ModuleSource }) {
  const { query, source, setSource } = useSource(usual);
  const [wanted, setMetric] = useAddress(params.metric);
  const { data } = query;
  const metrics = data ? metricsOf(data) : [];
  const metric = chosenMetric(wanted, metrics);
  const isEmpty = data !== undefined && rowCount(data) === 0;
  const others = data?.meta.sources.filter((each) => each !== source) ?? [];
  return (
    <Flow>
      <QueryPanel
        className="across"
        title={isEmpty ? text.table : text.flame}
        help={isEmpty ? text.tableHelp : text.flameHelp}
        query={query}
        actions={
          <Segmented
            label={text.source}
            value={source}
            options={params.source.words}
            names={text.sources}
            onChange={setSource}
          />
        }
      >
        {(answer) =>
          rowCount(answer) === 0 ? (
            <>
              <NoModules answer={answer} source={source} />
              {others.map((each) => (
                <Button key={each} onClick={() => setSource(each)}>
                  {text.showOther(text.sources[each])}
                </Button>
              ))}
            </>
          ) : (
            <>
              {answer.hooks && source === "lightning" && <MostHook hooks={answer.hooks} />}
              <Sentence answer={answer} metric={metric} />
              <div className="modules-bar">
                <span>{text.total(text.metrics[metric], duration(wholeOf(answer, metric)))}</span>
                <Segmented
                  label={text.metric}
                  value={metric}
                  options={metrics}
                  names={text.metrics}
                  onChange={(next: Metric) => setMetric(next === metrics[0] ? "" : next)}
                />
              </div>
              <Classes answer={answer} metric={metric} />
              <ModuleFlame answer={answer} metric={metric} />
            </>
          )
        }
      </QueryPanel>
      {!isEmpty && (
        <QueryPanel title={text.table} help={text.tableHelp} query={query}>
          {(answer) => <ModuleRows answer={answer} metric={metric} />}
        </QueryPanel>
      )}
      {data?.hooks && source === "lightning" && (
        <Panel title={text.hooks} help={text.hooksHelp}>
          <Hooks hooks={data.hooks} />
        </Panel>
      )}
    </Flow>
  );
}

/** Each leads to its longest call. */
function Hooks({ hooks }: { hooks: NonNullable<ModulesTable["hooks"]> }) {
  const table = useMemo(() => hookTable(hooks), [hooks]);
  return (
    <SimpleTable
      caption={text.hooksCaption}
      table={table}
      doorOf={(row) => () => goToView("trace", null, longestSlice(textAt(hooks.rows, "name", row)))}
    />
  );
}

/** Most of a batch may be outside of all modules. */
function MostHook({ hooks: { rows } }: { hooks: NonNullable<ModulesTable["hooks"]> }) {
  const times = (rows.host_self_ns ?? []).map(Number);
  const most = times.indexOf(Math.max(...times));
  if (most < 0) return null;
  const [time = 0, all] = [times[most], times.reduce((sum, ns) => sum + ns, 0)];
  return (
    <p className="sentence">
      {text.mostHook(textAt(rows, "name", most), duration(time), fraction(time / all))}
    </p>
  );
}

/** What the address says; else the view's own source; else, where only the other one is recorded, that. */
function useSource(usual: ModuleSource) {
  const { sel } = useTrace();
  const [wanted, setWanted] = useAddress(params.source);
  const chosen = wanted ?? undefined;
  const first = useModules(sel, chosen ?? usual);
  const instead =
    chosen === undefined && usual === "nn" && first.data && rowCount(first.data) === 0
      ? first.data.meta.sources.find((each) => each !== usual)
      : undefined;
  const second = useModules(instead ? sel : null, instead);
  const source = instead ?? chosen ?? usual;
  const setSource = (next: ModuleSource) => setWanted(next === usual && !instead ? null : next);
  return { query: instead ? second : first, source, setSource };
}

function NoModules({ answer, source }: { answer: ModulesTable; source: ModuleSource }) {
  if (source === "lightning")
    return (
      <Empty
        title={text.noLightning}
        reason={text.noLightningReason}
        remedy={text.lightningRemedy}
      />
    );
  const note = answer.meta.notes.find(({ kind }) => kind === "no_modules");
  return (
    <Empty title={text.empty} reason={text.emptyReason} remedy={note?.remedy ?? text.emptyRemedy} />
  );
}

/** Which class of modules has the most time of its own, of the kind that is chosen, and which module of it. */
function Sentence({ answer, metric }: Shown) {
  const [, select] = useSelectedModule(answer);
  const key = ownMetric(metric, metricsOf(answer));
  const most = useMemo(() => hottestClass(answer, metric), [answer, metric]);
  if (!most) return null;
  const { name, count, ns, row } = most;
  const whole = wholeOf(answer, key);
  const time = ownValues(answer, key)[row] ?? 0;
  const share = whole ? fraction(ns / whole) : "";
  return (
    <p className="sentence modules-sentence">
      {text.most(name, count, text.metrics[key], duration(ns), share)}{" "}
      {count > 1 && text.mostOf(duration(time))}
      <Link onClick={() => select(row)}>{modulePath(answer, row)}</Link>
    </p>
  );
}

/** What takes the time, whichever of many equal layers it is in; a click selects the module with most of it. */
function Classes({ answer, metric }: Shown) {
  const [, select] = useSelectedModule(answer);
  const groups = useMemo(() => byClass(answer, metric, text.itself), [answer, metric]);
  if (groups.length === 0) return null;
  return (
    <Treemap
      title={text.classes(text.metrics[metric])}
      unit="ns"
      groups={groups}
      head={[text.ofClass, text.inClass]}
      onPick={(group, item) => {
        const row = groups[group]?.rows[item];
        if (row !== undefined) select(row);
      }}
    />
  );
}

interface Shown {
  readonly answer: ModulesTable;
  readonly metric: Metric;
}

function useSelectedModule(answer: ModulesTable): [number, (row: number) => void] {
  const [selected, select] = usePicked();
  const path = selected?.kind === "mod" ? selected.name : null;
  const row = useMemo(() => rowOfModule(answer, path), [answer, path]);
  return [row, (next) => select({ kind: "mod", name: modulePath(answer, next) })];
}

function ModuleRows({ answer, metric }: Shown) {
  const state = useTableParams(params.filter, params.sort);
  const [expansion, setExpansion] = useAddress(params.expansion);
  const [selected, select] = useSelectedModule(answer);
  const table = useMemo(() => moduleTable(answer, metric), [answer, metric]);
  const atFirst = useMemo(() => openAtFirst(answer), [answer]);
  const usuallyOpen = useCallback((row: number) => atFirst.has(row), [atFirst]);
  return (
    <div className="modules-rows">
      <TreeTable
        id="modules"
        label={text.table}
        table={table}
        parent={answer.rows.parent as number[]}
        {...state}
        usuallyOpen={usuallyOpen}
        expansion={expansion}
        onExpansion={setExpansion}
        selected={selected}
        onSelect={select}
      />
    </div>
  );
}

/** Modules have one kind; hues tell their classes apart. */
const CLASS_HUES: readonly FlameKind[] = ["module", "frame", "operator", "device", "annotation"];

function ModuleFlame({ answer, metric }: Shown) {
  const [path, setPath] = useAddress(params.zoom);
  const [filter] = useAddress(params.filter);
  const [selected, select] = useSelectedModule(answer);
  const table: Table = useMemo(() => moduleTable(answer, metric), [answer, metric]);
  const { hits } = useMatches(table, filter);
  const entries = useMemo(() => entriesOf(answer, metric), [answer, metric]);
  const layout = useLayout(entries, false);
  const focus = useMemo(() => rowOfModule(answer, path), [answer, path]);
  const setFocus = (row: number) => setPath(row < 0 ? "" : modulePath(answer, row));
  if (layout.whole === 0) return <p className="muted">{text.noTime(text.metrics[metric])}</p>;
  return (
    <div className="modules-flame">
      <ZoomedFlame
        title={text.flame}
        entries={entries}
        layout={layout}
        focus={focus}
        onFocus={setFocus}
        selected={selected}
        onSelect={select}
        hits={hits}
      />
    </div>
  );
}

function entriesOf(answer: ModulesTable, metric: Metric): FlameEntries {
  const { rows } = answer;
  const whole = wholeOf(answer, metric);
  const name = (row: number) => textAt(rows, "name", row);
  const names = Array.from({ length: rowCount(answer) }, (_, row) => name(row));
  const labels = distinctNames(names, rows.parent as number[]);
  const share = (row: number) => fraction((numberAt(rows, metric, row) ?? 0) / whole);
  return {
    size: rowCount(answer),
    parent: rows.parent as number[],
    own: ownValues(answer, metric),
    label: name,
    brief: (row) => labels[row] ?? "",
    name,
    kind: (row) => CLASS_HUES[hash(moduleClass(name(row))) % CLASS_HUES.length] ?? "module",
    tooltip: (row) => ({
      title: modulePath(answer, row),
      lines: [
        {
          label: text.metrics[metric],
          value: duration(numberAt(rows, metric, row)),
          share: share(row),
        },
        ...answer.columns
          .filter(({ key, unit }) => unit === "ns" && key !== metric)
          .map(({ key, label }) => ({ label, value: duration(numberAt(rows, key, row)) })),
        { label: stacksTexts.tooltip.calls, value: String(numberAt(rows, "calls", row) ?? "") },
      ],
    }),
    spoken: (row) => text.spoken(name(row), duration(numberAt(rows, metric, row)), share(row)),
  };
}
