/** Modules by their classes: what one looks at where many layers are alike. Pure. */
import type { ModulesTable } from "../../api";
import type { TreemapGroup } from "../../charts";
import { seriesColor } from "../../draw";
import { numberAt, rowCount, textAt } from "../../table";
import { type Metric, ownValues } from "./metrics";
import { moduleClass } from "./moduleClass";

/** Classes that share a first word are told apart without it, if so many do. */
const ALIKE = 3;

/** A class with what took the time in it: the classes of the modules directly inside that hold no others, and itself. */
export interface ClassGroup extends TreemapGroup {
  /** By item: the row with most of its time. */
  readonly rows: readonly number[];
}

interface Sum {
  value: number;
  modules: Set<number>;
  most: number;
}

/** `itself`: what a module takes outside of the modules in it is called. */
export function byClass(answer: ModulesTable, metric: Metric, itself: string): ClassGroup[] {
  const { rows } = answer;
  const own = ownValues(answer, metric);
  const parents = Array.from(own, (_, row) => numberAt(rows, "parent", row) ?? -1);
  const around = new Set(parents);
  const classOf = (row: number) => moduleClass(textAt(rows, "name", row));
  const groups = new Map<string, Map<string, Sum>>();
  for (let row = 0; row < rowCount(answer); row++) {
    const value = own[row] ?? 0;
    if (value <= 0) continue;
    const parent = parents[row] ?? -1;
    const isLeaf = !around.has(row) && parent >= 0;
    const home = isLeaf ? parent : row;
    const group = groups.get(classOf(home)) ?? new Map<string, Sum>();
    groups.set(classOf(home), group);
    const item = isLeaf ? classOf(row) : "";
    const sum = group.get(item) ?? { value: 0, modules: new Set(), most: row };
    group.set(item, sum);
    sum.value += value;
    sum.modules.add(row);
    if (value > (own[sum.most] ?? 0)) sum.most = row;
  }
  const count = new Map<string, number>();
  for (let row = 0; row < rowCount(answer); row++)
    count.set(classOf(row), (count.get(classOf(row)) ?? 0) + 1);
  const found = [...groups].map(([label, items]) => {
    const sorted = [...items].sort(([, a], [, b]) => b.value - a.value);
    return {
      label: times(label, count.get(label) ?? 1),
      value: sorted.reduce((total, [, { value }]) => total + value, 0),
      items: sorted.map(([item, { value, modules }]) => ({
        label: item === "" ? itself : times(item, modules.size),
        value,
      })),
      rows: sorted.map(([, { most }]) => most),
    };
  });
  return found
    .sort((a, b) => b.value - a.value)
    .map(({ value: _, ...group }, at) => ({ ...group, color: seriesColor(at) }));
}

function times(name: string, count: number): string {
  return count > 1 ? `${name} ×${count}` : name;
}

/**
 * Names that differ where they begin: without the word that classes of a model share, and with the number first where
 * several siblings are of one class: `LlamaDecoderLayer_3` is `3 DecoderLayer`.
 */
export function distinctNames(names: readonly string[], parents: readonly number[]): string[] {
  const classes = new Set(names.map(moduleClass));
  const first = (name: string) => /^[A-Z][a-z]+(?=[A-Z])/.exec(name)?.[0] ?? "";
  const shared = new Map<string, number>();
  for (const name of classes) shared.set(first(name), (shared.get(first(name)) ?? 0) + 1);
  const siblings = new Map<string, number>();
  const place = (row: number) => `${parents[row]} ${moduleClass(names[row] ?? "")}`;
  for (const row of names.keys()) siblings.set(place(row), (siblings.get(place(row)) ?? 0) + 1);
  return names.map((name, row) => {
    const own = moduleClass(name);
    const word = first(own);
    const short = word && (shared.get(word) ?? 0) >= ALIKE ? own.slice(word.length) : own;
    const number = name.slice(own.length + 1);
    return number && (siblings.get(place(row)) ?? 0) > 1
      ? `${number} ${short}`
      : short + name.slice(own.length);
  });
}
