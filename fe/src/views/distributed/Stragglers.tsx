/** Who works longer than its peers, why, and what that costs; slow links; collectives that ranks lack. */
import type { MissingCollective, RanksOverview, SlowLink, Straggler } from "../../api";
import { count, decimal, duration, fraction, MISSING, rangesOf } from "../../format";
import { ranksTexts } from "../../i18n";
import { useTrace, viewName } from "../../state";
import { ListTable } from "../../table";
import { Button, Each, Link, Panel } from "../../ui";
import { compareRanks, showStraggler } from "./go";
import { laterOfTwo, named, rankName, typical } from "./sentence";

const text = ranksTexts.stragglers;
const missing = ranksTexts.missing;
/** Rows that are listed without being named, links and lacks. */
const MOST = 8;

export function Stragglers({ answer }: { answer: RanksOverview }) {
  const later = laterOfTwo(answer);
  const slow = later ? [later] : named(answer);
  const listed = answer.stragglers.filter((straggler) => !slow.includes(straggler));
  const { slow_links: links } = answer;
  return (
    <Panel title={text.title} help={text.help}>
      {slow.length > 0 ? (
        <Rows answer={answer} rows={slow} />
      ) : (
        <p className="muted">
          {answer.tiles.present < 2 ? text.one : answer.tiles.loading > 0 ? text.later : text.none}
        </p>
      )}
      {links.length > 0 && <Links links={links} />}
      {listed.length > 0 && (
        <details className="run-listed">
          <summary>{text.listed(count(listed.length))}</summary>
          <Rows answer={answer} rows={listed.slice(0, MOST)} doubts />
        </details>
      )}
    </Panel>
  );
}

interface RowsProps {
  readonly answer: RanksOverview;
  readonly rows: readonly Straggler[];
  /** Whether to say why they are not named. */
  readonly doubts?: boolean;
}

function Rows({ answer, rows, doubts = false }: RowsProps) {
  return (
    <ListTable
      label={text.title}
      className="run-rows"
      rows={rows}
      columns={[
        {
          label: text.rank,
          cell: ({ rank, worker }) => <strong>{rankName(rank, worker)}</strong>,
        },
        { label: text.host, kind: "text", cell: ({ host }) => host ?? "–" },
        {
          label: text.cause,
          kind: "text",
          cell: ({ cause, doubt }) => (
            <>
              {ranksTexts.causeName[cause]}
              {doubts && doubt !== "" && <span className="muted"> ({text.doubt[doubt]})</span>}
            </>
          ),
        },
        {
          label: text.where,
          kind: "text",
          className: "run-where",
          cell: (row) => <Where row={row} show={() => showStraggler(answer, row)} />,
        },
        {
          label: text.late,
          help: text.lateHelp,
          className: "num",
          cell: ({ late_ns: late }) => duration(late),
        },
        {
          label: text.z,
          help: text.zHelp,
          className: "num",
          cell: ({ z }) => (z === null ? MISSING : text.far(z, decimal(z, 1))),
        },
        {
          label: text.steps,
          help: text.stepsHelp,
          className: "num",
          cell: ({ steps, of_steps: of }) => text.stepsOf(count(steps), count(of)),
        },
        {
          label: text.saving,
          help: text.savingHelp,
          className: "num",
          cell: ({ saving_ns: saving }) => <Saving saving={saving} step={answer.tiles.step_ns} />,
        },
        {
          label: text.actions,
          kind: "text",
          className: "run-actions",
          cell: (row) => <Doors row={row} answer={answer} />,
        },
      ]}
    />
  );
}

function Where({ row, show }: { row: Straggler; show: () => void }) {
  return (
    <>
      {row.operator !== null && (
        <Link title={row.operator} onClick={show}>
          <code>{row.operator}</code>
        </Link>
      )}
      {row.operator_ns !== null && <span className="num"> {duration(row.operator_ns)}</span>}
      {row.position !== null && (
        <span className="muted">
          {" "}
          <Wrapped text={text.before(row.position)} />
        </span>
      )}
    </>
  );
}

function Saving({ saving, step }: { saving: number | null; step: number | null }) {
  if (saving === 0)
    return (
      <span className="muted" title={ranksTexts.answer.nothing}>
        {text.noSaving}
      </span>
    );
  return `${duration(saving)}${saving && step ? ` (${fraction(saving / step)})` : ""}`;
}

/** Both ranks on the timeline, or beside each other. */
function Doors({ row, answer }: { row: Straggler; answer: RanksOverview }) {
  const { sel } = useTrace();
  const other = typical(answer, row.worker);
  const trace = viewName("trace");
  return (
    <div>
      <Button
        title={other ? text.beside(rankName(other.rank, other.worker)) : undefined}
        onClick={() => showStraggler(answer, row)}
      >
        {other ? ranksTexts.show.both(trace) : ranksTexts.show.trace(trace)}
      </Button>
      {sel && other && (
        <Button
          title={rankName(other.rank, other.worker)}
          onClick={() => compareRanks(sel.run, sel.span, row.worker, other.worker)}
        >
          {ranksTexts.show.compare}
        </Button>
      )}
    </div>
  );
}

function Links({ links }: { links: readonly SlowLink[] }) {
  return (
    <section className="run-list" aria-label={text.links}>
      <h3>{text.links}</h3>
      <ul>
        {links.slice(0, MOST).map((link) => (
          <li key={`${link.group} ${link.kind}`}>
            {text.link(link.group, decimal(link.ratio, 1), link.kind, duration(link.extra_ns))}{" "}
            <span className="muted">
              {link.pair
                ? text.pair(...(link.pair.map(String) as [string, string]))
                : text.ranksOf(rangesOf(link.ranks))}
              {link.hosts.length > 0 && ` · ${link.hosts.join(", ")}`}
            </span>
          </li>
        ))}
      </ul>
      <More of={links.length} />
    </section>
  );
}

export function Missing({ items }: { items: readonly MissingCollective[] }) {
  if (items.length === 0) return null;
  return (
    <Panel title={missing.title} help={missing.help}>
      <ul className="run-list">
        <Each of={items.slice(0, MOST)}>
          {(item) => (
            <li>
              {missing.item(item.name, item.group, whereOf(item))}:{" "}
              <strong>
                {missing.lacks(rangesOf(item.ranks.filter((rank) => rank !== null)) || "?")}
              </strong>
              <span className="muted">
                {!item.exact && ` · ${missing.inexact}`}
                {item.stops && ` · ${missing.stops}`}
              </span>
            </li>
          )}
        </Each>
      </ul>
      <More of={items.length} />
    </Panel>
  );
}

function whereOf({ sequence, step }: MissingCollective): string {
  const number = sequence === null ? "" : missing.sequence(String(sequence));
  return number + (step === null ? "" : missing.step(step));
}

function More({ of }: { of: number }) {
  return of > MOST ? <p className="muted">{text.more(count(of - MOST))}</p> : null;
}

/** May break behind the parts of a name. */
function Wrapped({ text: whole }: { text: string }) {
  return (
    <Each of={whole.split(/(?<=[_/.:])(?=\w)/)}>
      {(part, at) => (
        <>
          {at > 0 && <wbr />}
          {part}
        </>
      )}
    </Each>
  );
}
