/** Who works longer than its peers, why, and what that costs; slow links; collectives that ranks lack. */
import { Fragment } from "react";
import type { MissingCollective, RanksOverview, SlowLink, Straggler } from "../../api";
import { count, decimal, duration, fraction, MISSING } from "../../format";
import { ranksTexts } from "../../i18n";
import { useTrace, viewName } from "../../state";
import { Button, Link, Panel, Wide } from "../../ui";
import { compareRanks, showStraggler } from "./go";
import { rangesOf } from "./ranks";
import { named, rankName, typical } from "./sentence";

const text = ranksTexts.stragglers;
const missing = ranksTexts.missing;
/** Rows that are listed without being named, links and lacks. */
const MOST = 8;

export function Stragglers({ answer }: { answer: RanksOverview }) {
  const slow = named(answer);
  const listed = answer.stragglers.filter((straggler) => !straggler.named);
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
  const numbers: readonly (readonly [string, string | undefined])[] = [
    [text.late, text.lateHelp],
    [text.z, text.zHelp],
    [text.steps, text.stepsHelp],
    [text.saving, text.savingHelp],
  ];
  return (
    <Wide className="simple-table run-rows">
      <table>
        <caption className="visually-hidden">{text.title}</caption>
        <thead>
          <tr>
            <th scope="col">{text.rank}</th>
            <th scope="col">{text.host}</th>
            <th scope="col">{text.cause}</th>
            <th scope="col">{text.where}</th>
            {numbers.map(([label, help]) => (
              <th key={label} scope="col" className="number" title={help}>
                {label}
              </th>
            ))}
            <th scope="col">{text.actions}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <Row key={row.worker} row={row} answer={answer} doubts={doubts} />
          ))}
        </tbody>
      </table>
    </Wide>
  );
}

function Row({ row, answer, doubts }: { row: Straggler; answer: RanksOverview; doubts: boolean }) {
  const { sel } = useTrace();
  const other = typical(answer, row.worker);
  const step = answer.tiles.step_ns;
  const show = () => showStraggler(answer, row);
  return (
    <tr>
      <td>
        <strong>{rankName(row.rank, row.worker)}</strong>
      </td>
      <td>{row.host ?? "–"}</td>
      <td>
        {ranksTexts.causeName[row.cause]}
        {doubts && row.doubt !== "" && <span className="muted"> ({text.doubt[row.doubt]})</span>}
      </td>
      <td className="run-where">
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
      </td>
      <td className="number num">{duration(row.late_ns)}</td>
      <td className="number num">{row.z === null ? MISSING : decimal(row.z, 1)}</td>
      <td className="number num">{text.stepsOf(count(row.steps), count(row.of_steps))}</td>
      <td className="number num">
        {row.saving_ns === 0 ? (
          <span className="muted" title={ranksTexts.answer.nothing}>
            {text.noSaving}
          </span>
        ) : (
          duration(row.saving_ns)
        )}
        {row.saving_ns && step ? ` (${fraction(row.saving_ns / step)})` : ""}
      </td>
      <td className="run-actions">
        <div>
          <Button
            title={other ? text.beside(rankName(other.rank, other.worker)) : undefined}
            onClick={show}
          >
            {other
              ? ranksTexts.show.both(viewName("trace"))
              : ranksTexts.show.trace(viewName("trace"))}
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
      </td>
    </tr>
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
        {items.slice(0, MOST).map((item, at) => (
          // Several of a group may be alike.
          // biome-ignore lint/suspicious/noArrayIndexKey: see above
          <li key={at}>
            {missing.item(item.name, item.group, whereOf(item))}:{" "}
            <strong>
              {missing.lacks(rangesOf(item.ranks.filter((rank) => rank !== null)) || "?")}
            </strong>
            <span className="muted">
              {!item.exact && ` · ${missing.inexact}`}
              {item.stops && ` · ${missing.stops}`}
            </span>
          </li>
        ))}
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
  return whole.split(/(?<=[_/.:])(?=\w)/).map((part, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one text
    <Fragment key={at}>
      {at > 0 && <wbr />}
      {part}
    </Fragment>
  ));
}
