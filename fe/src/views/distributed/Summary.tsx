import type { Distributed } from "../../api";
import { count, duration, fraction, percentile } from "../../format";
import { distributedTexts as text } from "../../i18n";
import { goToView, viewName } from "../../state";
import { Tile } from "../../ui";
import { presence, type RankNumbers, type RankRow, rangesOf, waitingOf } from "./ranks";
import { LEAST_SHARE, type Straggler } from "./straggler";

/** Median over the ranks, with the least and the most. */
export function Tiles({ answer, rows }: { answer: Distributed; rows: readonly RankRow[] }) {
  const { present, world, missing } = presence(answer.workers);
  const nodes = new Set(answer.workers.map(({ node }) => node)).size;
  const known = rows.flatMap(({ numbers }) => numbers ?? []);
  const tile = (
    label: string,
    help: string,
    values: readonly number[],
    format: (value: number | null) => string,
  ) => (
    <Tile
      label={label}
      help={help}
      value={format(percentile(values, 0.5))}
      {...(values.length > 1
        ? {
            facts: [
              [text.tiles.median, ""],
              [text.tiles.min, format(percentile(values, 0))],
              [text.tiles.max, format(percentile(values, 1))],
            ] as const,
          }
        : {})}
    />
  );
  const shares = (part: (of: RankNumbers) => number | null, whole: (of: RankNumbers) => number) =>
    known.flatMap((of) => {
      const some = part(of);
      return some !== null && whole(of) > 0 ? [some / whole(of)] : [];
    });
  const waiting = known.flatMap((of) => {
    const [part, whole] = waitingOf(of) ?? [0, 0];
    return whole > 0 ? [part / whole] : [];
  });
  return (
    <dl className="tiles">
      <Tile
        label={text.tiles.ranks}
        help={text.tiles.ranksHelp}
        value={world === null ? count(present) : text.tiles.ranksOf(count(present), count(world))}
        remark={
          missing.length > 0
            ? text.tiles.missing(brief(rangesOf(missing)))
            : text.tiles.nodes(count(nodes))
        }
      />
      {tile(
        text.tiles.step,
        text.tiles.stepHelp,
        known.map(({ duration_ns }) => duration_ns),
        duration,
      )}
      {tile(
        text.tiles.exposed,
        text.tiles.exposedHelp,
        shares(
          (of) => of.exposed_communication_ns,
          (of) => of.duration_ns,
        ),
        fraction,
      )}
      {tile(
        text.tiles.hidden,
        text.tiles.hiddenHelp,
        shares(
          (of) => of.overlap_ns,
          (of) => of.overlap_ns + of.communication_only_ns,
        ),
        fraction,
      )}
      {waiting.length === 0 ? (
        // Nothing was matched, or nothing ran: 0 % would say that no rank waits.
        <Tile
          label={text.tiles.waiting}
          help={text.tiles.waitingHelp}
          value={fraction(null)}
          remark={rows.length < 2 ? text.tiles.waitingUnknown : text.tiles.waitingUnmatched}
        />
      ) : (
        tile(text.tiles.waiting, text.tiles.waitingHelp, waiting, fraction)
      )}
    </dl>
  );
}

const LONGEST = 40;

function brief(list: string): string {
  return list.length <= LONGEST ? list : `${list.slice(0, list.lastIndexOf(",", LONGEST))}, …`;
}

interface RemarkProps {
  readonly ranks: number;
  /** Whether the waiting of at least two ranks is known. */
  readonly known: boolean;
  readonly found: Straggler | null;
  readonly onPick: (worker: string) => void;
}

/** Who comes last, and what keeps it. */
export function Remark({ ranks, known, found, onPick }: RemarkProps) {
  const words = text.straggler;
  if (!found) {
    return (
      <p className="distributed-remark none" role="note" aria-label={words.label}>
        {ranks < 2 ? words.one : known ? words.none(fraction(LEAST_SHARE, 0)) : words.unknown}
      </p>
    );
  }
  const { row, excess } = found;
  const { worker } = row.worker;
  return (
    <section className="distributed-remark" aria-label={words.label}>
      <p>
        <strong>{words.found(row.name === worker ? worker : words.rank(row.name))}</strong>{" "}
        {words.wait(duration(found.others_ns), duration(found.wait_ns), fraction(found.share))}{" "}
        {excess === null
          ? words.unexplained
          : excess.part === "computing"
            ? words.computing(duration(excess.ns))
            : words.other(duration(excess.ns))}
      </p>
      <div className="distributed-links">
        {(["overview", "operators", "steps"] as const).map((view) => (
          <button
            key={view}
            type="button"
            className="button"
            onClick={() => {
              onPick(worker);
              goToView(view);
            }}
          >
            {words.show(viewName(view))}
          </button>
        ))}
      </div>
    </section>
  );
}
