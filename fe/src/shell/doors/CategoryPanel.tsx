/** What the time of a category of the steps was spent with, and where that is in the trace. */
import { useEffect, useRef } from "react";
import { type Category, type CategoryTime, useTraceQuery } from "../../api";
import { count, duration, exact, fraction } from "../../format";
import { bare, categoryName, overviewTexts } from "../../i18n";
import { doors as text } from "../../i18n/en/doors";
import { goToView, type PickedKind, useTrace, viewName } from "../../state";
import { ListTable } from "../../table";
import { Button, Link, QueryPanel } from "../../ui";
import { showInTrace } from "../findings/showInTrace";
import "../../ui/lines.css";
import "./doors.css";

interface Props {
  /** As the address has it. */
  readonly category: string;
  /** The name of the step, where it is of one. */
  readonly step: string | null;
  readonly onClose: () => void;
}

/** Nothing where there is no such category. */
export function CategoryPanel({ category, ...props }: Props) {
  return isCategory(category) ? <Opened {...props} category={category} /> : null;
}

function isCategory(text: string): text is Category {
  return Object.hasOwn(overviewTexts.categories, text);
}

function Opened({ category, step, onClose }: Props & { readonly category: Category }) {
  const { sel } = useTrace();
  const of = sel && step !== null ? { ...sel, from_step: step, to_step: step } : sel;
  const query = useTraceQuery("category", of, { category });
  const box = useRef<HTMLDivElement>(null);
  const name = categoryName(category);
  // Who asked for it may look at another part of the page.
  // biome-ignore lint/correctness/useExhaustiveDependencies: when another number is opened, and when it is here
  useEffect(() => {
    // Newer browsers return a promise, which is no way to end an effect.
    void box.current?.scrollIntoView({ block: "nearest" });
  }, [category, step, query.data === undefined]);
  return (
    <div ref={box} className="door">
      <QueryPanel
        title={step === null ? text.title(name) : text.titleOfStep(name, step)}
        query={query}
        empty={({ total_ns: total }) => (total === 0 ? { reason: text.nothing } : null)}
        actions={
          <Button quiet onClick={onClose}>
            {text.close}
          </Button>
        }
      >
        {(answer) => <Found answer={answer} />}
      </QueryPanel>
    </div>
  );
}

/** Where things of a kind are rows. */
const HOMES: Readonly<Record<string, readonly [PickedKind, "operators" | "kernels"]>> = bare({
  operator: ["op", "operators"],
  kernel: ["kernel", "kernels"],
});

function Found({ answer: { parts, names, stretches, total_ns: total } }: { answer: CategoryTime }) {
  const kinds = new Map(parts.map(({ name, kind }) => [name, kind]));
  return (
    <>
      <p className="muted">{text.total(duration(total), text.names(count(names)))}</p>
      <div className="door-tables stack">
        <ListTable
          caption={text.parts}
          rows={parts}
          columns={[
            { label: text.name, cell: (part) => <Name {...part} /> },
            {
              label: text.time,
              cell: ({ ns }) => duration(ns),
              title: ({ ns }) => exact(ns, "ns"),
            },
            { label: text.share, cell: ({ ns }) => fraction(ns / total) },
            { label: text.count, cell: (part) => count(part.stretches) },
            { label: text.longest, cell: (part) => <Place {...part} /> },
          ]}
        />
        <ListTable
          caption={text.stretches}
          rows={stretches}
          columns={[
            { label: text.name, cell: (each) => <Name {...each} kind={kinds.get(each.name)} /> },
            { label: text.step, cell: ({ step }) => step },
            { label: text.time, cell: (each) => <Place {...each} /> },
          ]}
        />
      </div>
      {names > parts.length && <p className="muted">{text.more(count(names - parts.length))}</p>}
    </>
  );
}

function Place(stretch: CategoryTime["stretches"][number] | CategoryTime["parts"][number]) {
  return (
    <Link
      title={text.inTrace(stretch.name ?? text.unknown, viewName("trace"))}
      onClick={() => showInTrace(stretch, stretch.row)}
    >
      {duration(stretch.duration_ns)}
    </Link>
  );
}

interface Named {
  name: string | null;
  short_name: string | null;
  kind?: string | undefined;
}

/** An operator or a kernel leads to its row. */
function Name({ name, short_name: short, kind = "other" }: Named) {
  const home = HOMES[kind];
  if (name === null) return <span className="muted">{text.unknown}</span>;
  if (!home) return <span title={name}>{name}</span>;
  const [picked, view] = home;
  return (
    <Link
      title={text.open(name, viewName(view))}
      onClick={() => goToView(view, { kind: picked, name }, { filter: "" })}
    >
      {short ?? name}
    </Link>
  );
}
