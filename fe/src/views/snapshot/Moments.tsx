/** Which moment the map and the tables are of. */
import { count } from "../../format";
import { snapshotTexts as text } from "../../i18n";
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
  const field = (
    label: string,
    value: string,
    more: readonly string[],
    set: (v: string) => void,
  ) => (
    <label className="snapshot-choice">
      {label}
      <select className="select" value={value} onChange={(event) => set(event.target.value)}>
        {[...more, ...options].map((each) => (
          <option key={each} value={each}>
            {each === "" ? text.nothing : momentName(each)}
          </option>
        ))}
      </select>
    </label>
  );
  return (
    <>
      {field(text.moment, look.at, [], look.setAt)}
      {field(text.compare, look.since ?? "", [""], (since) => look.setSince(since || null))}
    </>
  );
}
