/** Which moment the map and the tables are of. */
import { count } from "../../format";
import { snapshotTexts as text } from "../../i18n";
import { Combo } from "../../ui";
import type { Look } from "./useSnapshot";

/** A moment in words: `peak`, or the number of a record. */
export function momentName(at: string): string {
  if (/^-?\d+$/.test(at)) return text.moments.record(count(Number(at)));
  const known: Readonly<Record<string, string | ((n: string) => string)>> = text.moments;
  const found = known[at];
  return typeof found === "string" ? found : at;
}

/** Nothing where the file tells of one moment alone. */
export function MomentChoice({ look }: { readonly look: Look }) {
  if (!look.device.has_history) return null;
  const kinds = [...new Set(look.device.moments.map(({ kind }) => kind))];
  const options = kinds.includes(look.at as (typeof kinds)[number]) ? kinds : [...kinds, look.at];
  const shown = options.map((value) => ({ value, label: momentName(value) }));
  return (
    <>
      <Combo label={text.moment} value={look.at} options={shown} onChange={look.setAt} />
      <Combo
        label={text.compare}
        value={look.since ?? ""}
        options={[{ value: "", label: text.nothing }, ...shown]}
        onChange={(since) => look.setSince(since || null)}
      />
    </>
  );
}
