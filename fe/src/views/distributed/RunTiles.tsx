import type { RanksOverview } from "../../api";
import { count, duration, fraction, MISSING } from "../../format";
import { ranksTexts } from "../../i18n";
import { goToView } from "../../state";
import { Tile } from "../../ui";
import { showCollectives, showRanks, showStraggler } from "./go";
import { laterOfTwo, named, rankName } from "./sentence";

const text = ranksTexts.tiles;
/** Characters that a tile has room for. */
const LONGEST = 10;

/** The run in a few numbers. */
export function RunTiles({ answer }: { answer: RanksOverview }) {
  const { tiles } = answer;
  const { present, loading, step_ns: step } = tiles;
  const share = (ns: number | null, unknown: string) =>
    ns === null ? unknown : step ? text.ofStep(fraction(ns / step)) : "";
  const unknown = present < 2 ? text.oneRank : text.unmatched;
  const part = (label: string, help: string, ns: number | null, sort: string) => (
    <Tile
      label={label}
      help={help}
      value={duration(ns)}
      remark={share(ns, unknown)}
      onOpen={ns ? () => showCollectives({ sort }) : undefined}
    />
  );
  const worst = named(answer)[0] ?? laterOfTwo(answer);
  const later = loading > 0 ? text.later : present < 2 ? text.oneRank : null;
  const nobody = later ?? text.nobodyRemark;
  return (
    <dl className="tiles">
      <RanksTile answer={answer} />
      <Tile
        label={text.step}
        help={text.stepHelp}
        value={duration(step)}
        remark={text.steps(count(tiles.steps))}
        onOpen={tiles.steps > 0 ? () => goToView("steps", null, { filter: "" }) : undefined}
      />
      {part(text.wait, text.waitHelp, tiles.exposed_wait_ns, "-wait_ns")}
      {part(text.transfer, text.transferHelp, tiles.exposed_transfer_ns, "-transfer_ns")}
      {part(text.hidden, text.hiddenHelp, tiles.hidden_ns, "-transfer_ns")}
      <Tile
        label={text.slowest}
        help={text.slowestHelp}
        value={
          worst
            ? rankName(worst.rank, worst.worker)
            : present < 2 || loading > 0
              ? MISSING
              : text.nobody
        }
        remark={worst ? ranksTexts.causeName[worst.cause] : nobody}
        onOpen={worst && (() => showStraggler(answer, worst))}
      />
      <Tile
        label={text.lost}
        help={text.lostHelp}
        value={duration(tiles.lost_ns)}
        remark={share(tiles.lost_ns, later ?? text.notCompared)}
        onOpen={tiles.lost_ns ? () => showRanks("-late_ns") : undefined}
      />
    </dl>
  );
}

/** How many ranks there are, and which are not here. */
function RanksTile({ answer: { tiles, layout } }: { answer: RanksOverview }) {
  const { present, expected, loading, failed } = tiles;
  const missing = expected === null ? 0 : Math.max(0, expected - present - loading - failed);
  const some = (of: number, words: (n: string) => string) => (of > 0 ? [words(count(of))] : []);
  const lacking = [
    ...some(loading, text.loading),
    ...some(failed, text.failed),
    ...some(missing, text.missing),
  ];
  const whereabouts = layout.nodes === null ? [] : [text.nodes(count(layout.nodes))];
  const ranks = expected === null ? count(present) : text.of(count(present), count(expected));
  const short = ranks.length <= LONGEST;
  return (
    <Tile
      label={text.ranks}
      help={text.ranksHelp}
      value={short ? ranks : count(present)}
      remark={[
        ...(short || expected === null ? [] : [text.ofAll(count(expected))]),
        ...(lacking.length > 0 ? lacking : whereabouts),
      ].join(", ")}
      onOpen={() => showRanks("rank")}
    />
  );
}
