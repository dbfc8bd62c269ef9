/** Looks up what the address names as the longest slice of a name; from then on the address has its number. */
import { useEffect } from "react";
import { timelineSearch } from "../../api";
import { change, setAddress, useAddress } from "../../state";
import { params } from "./params";
import { useTraceState } from "./useTraceModel";

export function useLongest(): void {
  const [wanted, setWanted] = useAddress(params.event);
  const main = useTraceState().ranks[0] ?? null;
  const name = wanted?.type === "longest" ? wanted.name : null;
  useEffect(() => {
    if (name === null || !main) return;
    const controller = new AbortController();
    const query = { q: name.slice(0, 1_000), case: "match", hits: 1, bins: 1 } as const;
    timelineSearch(main.key, query, controller.signal).then(
      ({ names }) => {
        const found = names.find((each) => each.name === name) ?? names[0];
        if (found) setWanted({ type: "row", worker: null, row: found.longest_row });
        else setAddress(change(params.event, null), change(params.search, name));
      },
      () => undefined,
    );
    return () => controller.abort();
  }, [name, main, setWanted]);
}
