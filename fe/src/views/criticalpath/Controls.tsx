/** The sliders and switches of the what-if. */
import { type ReactNode, useId } from "react";
import type { CriticalPath } from "../../api";
import { decimal, fraction, frameLabel, kernelLabel } from "../../format";
import { criticalpath } from "../../i18n/en/criticalpath";
import { Button, Combo, Icon } from "../../ui";
import {
  type Change,
  findChange,
  formatChange,
  KINDS,
  type KindId,
  MOST_CHANGES,
  withChange,
  withoutChange,
} from "./changes";

const text = criticalpath.whatIf;

/** Of everything of a kind; those of devices only where there are any. */
const ON_HOST = ["data", "python", "operators"] as const satisfies readonly KindId[];
const WITH_DEVICE = [
  "launch",
  "allocator",
  "kernels",
  "copies",
] as const satisfies readonly KindId[];
const SWITCHES = [
  "sync",
  "copy_waits",
  "queue",
  "pinned",
  "graph",
] as const satisfies readonly KindId[];

const MOST = 1.5;
const STEP = 0.05;

interface Props {
  readonly path: CriticalPath;
  readonly changes: readonly Change[];
  readonly onChange: (changes: readonly Change[]) => void;
}

export function Controls({ path, changes, onChange }: Props) {
  const isGpu = path.meta.device_type === "GPU";
  const sliders: readonly KindId[] = [...ON_HOST, ...(isGpu ? WITH_DEVICE : []), "collectives"];
  const switches: readonly KindId[] = isGpu ? SWITCHES : [];
  const plain = [...sliders, ...switches];
  // Also what only a link has asked for.
  const others = changes.filter(({ kind, name }) => name !== null || !plain.includes(kind));
  const short = new Map(path.kernels.map(({ name, short_name }) => [name, short_name]));
  const slider = (about: Pick<Change, "kind" | "name">, onRemove?: () => void) => (
    <Slider
      key={`${about.kind} ${about.name ?? ""}`}
      label={labelOf(about, short)}
      title={about.name ?? labelOf(about, short)}
      factor={findChange(changes, about)?.factor ?? 1}
      onFactor={(factor) =>
        // What is as recorded need not be said, but for what was added by hand.
        onChange(
          factor === 1 && !onRemove
            ? withoutChange(changes, about)
            : withChange(changes, { ...about, factor }),
        )
      }
      onRemove={onRemove}
    />
  );
  return (
    <div className="what-if-controls">
      <Group title={text.durations}>{sliders.map((kind) => slider({ kind, name: null }))}</Group>
      {switches.length > 0 && (
        <Group title={text.waits}>
          {switches.map((kind) => (
            <Switch
              key={kind}
              label={text.labels[kind as keyof typeof text.labels]}
              on={findChange(changes, { kind, name: null }) !== null}
              onChange={(on) =>
                onChange(
                  on
                    ? withChange(changes, { kind, name: null, factor: null })
                    : withoutChange(changes, { kind, name: null }),
                )
              }
            />
          ))}
        </Group>
      )}
      <Group title={text.chosen}>
        {others.map((each) => {
          const remove = () => onChange(withoutChange(changes, each));
          return KINDS[each.kind].scales ? (
            slider(each, remove)
          ) : (
            <Switch key={formatChange(each)} label={labelOf(each, short)} on onChange={remove} />
          );
        })}
        {changes.length < MOST_CHANGES && (
          <Combo
            label={text.add}
            name={`${text.add}: ${text.chosen}`}
            value=""
            options={[{ value: "", label: text.addHint }, ...optionsOf(path, short)]}
            onChange={(value) => {
              const found = namedOf(value);
              if (found && !findChange(changes, found))
                onChange(withChange(changes, { ...found, factor: 0.5 }));
            }}
          />
        )}
      </Group>
    </div>
  );
}

function Group({ title, children }: { title: string; children: ReactNode }) {
  const id = useId();
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be laid out as a grid everywhere
    <div role="group" aria-labelledby={id} className="what-if-group">
      <h3 id={id}>{title}</h3>
      {children}
    </div>
  );
}

/** Short names of kernels by their names: of those on the path. */
type ShortNames = ReadonlyMap<string, string>;

export function labelOf({ kind, name }: Pick<Change, "kind" | "name">, short: ShortNames): string {
  if (name === null) return (text.labels as Readonly<Record<string, string>>)[kind] ?? kind;
  if (kind === "sync" || kind === "copy_waits") return text.of[kind](name);
  return kind === "kernels" ? (short.get(name) ?? kernelLabel(name)) : frameLabel(name);
}

interface SliderProps {
  readonly label: string;
  /** The whole name. */
  readonly title: string;
  readonly factor: number;
  readonly onFactor: (factor: number) => void;
  readonly onRemove?: (() => void) | undefined;
}

function Slider({ label, title, factor, onFactor, onRemove }: SliderProps) {
  const id = useId();
  const said = factorText(factor);
  return (
    <div className={factor === 1 ? "what-if-row" : "what-if-row changed"}>
      <label htmlFor={id} title={title}>
        {label}
      </label>
      <input
        id={id}
        type="range"
        min={0}
        max={Math.max(MOST, factor)}
        step={STEP}
        value={factor}
        aria-valuetext={said}
        onChange={({ currentTarget }) => onFactor(Number(Number(currentTarget.value).toFixed(2)))}
      />
      <output htmlFor={id} className="num">
        {said}
      </output>
      <Button
        quiet
        icon
        disabled={factor === 1 && !onRemove}
        title={onRemove ? text.remove(label) : text.resetOne(label)}
        aria-label={onRemove ? text.remove(label) : text.resetOne(label)}
        onClick={onRemove ?? (() => onFactor(1))}
      >
        <Icon name="close" />
      </Button>
    </div>
  );
}

interface SwitchProps {
  readonly label: string;
  readonly on: boolean;
  readonly onChange: (on: boolean) => void;
}

function Switch({ label, on, onChange }: SwitchProps) {
  return (
    <label className={on ? "what-if-switch changed" : "what-if-switch"}>
      <input
        type="checkbox"
        role="switch"
        checked={on}
        aria-checked={on}
        onChange={({ currentTarget }) => onChange(currentTarget.checked)}
      />
      {label}
    </label>
  );
}

export function factorText(factor: number): string {
  if (factor === 0) return text.free;
  return factor === 1 ? text.recorded : text.times(decimal(factor, 2, true));
}

const NAMED = ["operator", "module", "function", "kernels", "copies"] as const;
type Named = (typeof NAMED)[number];

/** What can be chosen, by the time that it has on the path. */
function optionsOf(
  { operators, kernels, functions, modules, total_ns }: CriticalPath,
  short: ShortNames,
) {
  const option = (kind: Named, name: string, ns: number) => ({
    value: `${kind}.${name}`,
    label: labelOf({ kind, name }, short),
    title: name,
    detail: `${text.groups[kind]} · ${fraction(ns / total_ns)}`,
  });
  const onHost = (kind: Named, names: CriticalPath["operators"]) =>
    names
      .filter(({ host_ns }) => host_ns > 0)
      .map(({ name, host_ns }) => option(kind, name, host_ns));
  return [
    ...onHost("operator", operators),
    ...kernels
      .filter(({ what }) => what !== "communication")
      .map(({ name, what, total_ns: ns }) =>
        option(what === "copy" ? "copies" : "kernels", name, ns),
      ),
    ...onHost("module", modules),
    ...onHost("function", functions),
  ];
}

function namedOf(value: string): Pick<Change, "kind" | "name"> | null {
  const at = value.indexOf(".");
  const kind = NAMED.find((each) => each === value.slice(0, at));
  return kind ? { kind, name: value.slice(at + 1) } : null;
}
