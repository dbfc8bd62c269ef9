/** The run in one sentence, made of its answer. Pure. */
import type { RanksOverview, Representative, Straggler } from "../../api";
import { count, decimal, duration, fraction } from "../../format";
import { ranksTexts as text } from "../../i18n";

const words = text.answer;

/** What a rank is called in a sentence. */
export function rankName(rank: number | null, worker: string): string {
  return rank === null ? worker : text.rank(String(rank));
}

/** Those that are surely slow, the worst first. */
export function named(answer: RanksOverview): readonly Straggler[] {
  return answer.stragglers.filter((straggler) => straggler.named);
}

/** Which of two ranks the other waits for: with so few peers nobody is named, yet it is no less true. */
export function laterOfTwo({ stragglers, tiles }: RanksOverview): Straggler | undefined {
  if (tiles.loading > 0) return;
  return stragglers.find((each) => each.doubt === "few_peers");
}

/** One sentence that says what is wrong with the run. */
export function headline(answer: RanksOverview): string {
  const { tiles, slow_links: links } = answer;
  const slow = named(answer);
  const [first] = slow;
  const [link] = links;
  if (first) return whoIsSlow(slow, first);
  // Peers are known only when all ranks are read: until then no rank is said to be fast enough, either.
  if (tiles.loading > 0) return words.soFar(count(tiles.present), duration(tiles.step_ns));
  if (link) return words.link(link.group, decimal(link.ratio, 1));
  if (tiles.present < 2) return words.one(duration(tiles.step_ns));
  if (tiles.steps === 0) return words.unknown(count(tiles.present));
  const later = laterOfTwo(answer);
  if (later) return words.two(rankName(later.rank, later.worker), duration(later.late_ns));
  return words.none(count(tiles.present), count(tiles.steps));
}

function whoIsSlow(slow: readonly Straggler[], first: Straggler): string {
  const late = duration(first.late_ns);
  const cause = text.cause[first.cause];
  const name = rankName(first.rank, first.worker);
  const who = first.host === null ? name : text.onHost(name, first.host);
  if (slow.length === 1) return words.slow(who, cause, late);
  return slow.every((each) => each.cause === first.cause)
    ? words.several(count(slow.length), cause, late)
    : words.mixed(count(slow.length), `${who}: ${cause}, ${late}`);
}

/** What it costs, and what else is slow; empty if no rank is named. */
export function cost(answer: RanksOverview): string {
  const { tiles, slow_links: links } = answer;
  const { lost_ns: lost, step_ns: step } = tiles;
  const [link] = links;
  const slow = named(answer).length;
  if (slow === 0) return "";
  const said = link ? [words.alsoLink(link.group)] : [];
  if (lost !== null && lost > 0 && step) {
    const saved = [duration(lost), fraction(lost / step)] as const;
    said.unshift(slow === 1 ? words.saving(...saved) : words.savingOfAll(count(slow), ...saved));
  } else if (lost !== null) said.unshift(words.nothing);
  return said.join(" ");
}

/** The rank that stands for most others and is not slow, of those that do the same work where there is one. */
export function typical(answer: RanksOverview, worker: string): Representative | null {
  const { representatives, ranks } = answer;
  const peersOf = (of: string) => ranks.peers[ranks.worker.indexOf(of)];
  const mine = peersOf(worker);
  const others = representatives.filter((each) => !each.named && each.worker !== worker);
  const alike = others.filter((each) => peersOf(each.worker) === mine);
  return (alike.length > 0 ? alike : others).reduce<Representative | null>(
    (best, each) => (best === null || each.like > best.like ? each : best),
    null,
  );
}
