import { useMemo } from "react";
import type { Overview } from "../../api";
import { type HBarItem, HBars } from "../../charts";
import { kernelColor, operatorColor } from "../../draw/parts";
import { count } from "../../format";
import { overviewTexts } from "../../i18n";
import { formatPicked, goToView, parsePicked, type ViewId, viewName } from "../../state";
import { Empty, Link, Panel } from "../../ui";

const text = overviewTexts.top;

export function TopOperators({ overview }: { overview: Overview }) {
  const device = overview.meta.device_type === "GPU";
  const rows = overview.top_operators;
  const items = useMemo(
    () =>
      rows
        .map(({ name, is_communication, device_self_ns, host_self_ns }) => ({
          label: name,
          color: operatorColor(is_communication),
          value: device ? (device_self_ns ?? 0) : host_self_ns,
          select: formatPicked({ kind: "op", name }),
        }))
        .filter(({ value }) => value > 0),
    [rows, device],
  );
  return (
    <Top
      className="area-operators"
      title={text.operators}
      help={text.operatorsHelp}
      measure={(device ? text.device : text.host)(count(overview.steps.names.length))}
      view="operators"
      items={items}
      empty={{ reason: text.noOperators, remedy: text.operatorRemedy }}
    />
  );
}

export function TopKernels({ overview }: { overview: Overview }) {
  const rows = overview.top_kernels;
  const items = useMemo(
    () =>
      rows.map(({ name, short_name, kind, total_ns }) => ({
        label: short_name,
        title: name,
        value: total_ns,
        color: kernelColor(kind),
        select: formatPicked({ kind: "kernel", name }),
      })),
    [rows],
  );
  return (
    <Top
      className="area-kernels"
      title={text.kernels}
      help={text.kernelsHelp}
      measure={text.total(count(overview.steps.names.length))}
      view="kernels"
      items={items}
      empty={{ reason: text.noKernels, remedy: text.kernelRemedy }}
    />
  );
}

interface TopProps {
  className: string;
  title: string;
  help: string;
  /** What the bars measure. */
  measure: string;
  view: ViewId;
  items: readonly HBarItem[];
  empty: { reason: string; remedy: string };
}

function Top({ className, title, help, measure, view, items, empty }: TopProps) {
  return (
    <Panel
      className={className}
      title={title}
      help={help}
      actions={<Link onClick={() => goToView(view)}>{text.all(viewName(view))}</Link>}
    >
      {items.length === 0 ? (
        <Empty {...empty} />
      ) : (
        <>
          <p className="muted">{measure}</p>
          <HBars
            title={title}
            unit="ns"
            items={items}
            onPick={(item) => goToView(view, parsePicked(item.select))}
          />
        </>
      )}
    </Panel>
  );
}
