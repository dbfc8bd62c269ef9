/** From numbers of the run page to the events behind them. */
import type { RanksOverview, Straggler } from "../../api";
import { equals } from "../../format";
import { showRow } from "../../shell/findings/showInTrace";
import { longestSlice } from "../../shell/places";
import { change, goToView, selectTrace, setAddress, setBaseline } from "../../state";
import { trackKey } from "../../timeline/track";
import { anchor } from "../../ui";
import { params } from "./params";
import { typical } from "./sentence";

/** Where these tables are. */
export const RANKS = anchor("all-ranks");
export const COLLECTIVES = anchor("all-collectives");

/** An event of a rank on its timeline; without a row, the rank's timeline. */
export function showEvent(worker: string, row: number | null): void {
  selectTrace({ worker });
  if (row === null) goToView("trace");
  else showRow(row);
}

/** The longest slice of a name on the timeline of a rank, with other ranks below it. */
export function showLongest(
  worker: string,
  name: string | null,
  workers: readonly string[] = [],
): void {
  selectTrace({ worker });
  const shown = workers.length > 0 ? [worker, ...workers] : [];
  goToView("trace", null, {
    ...(name === null ? {} : longestSlice(name)),
    workers,
    pinned: shown.map((each) => trackKey(each, "")),
  });
}

/** Where a rank that is slow loses its time, with one that is as ranks usually are below it. */
export function showStraggler(answer: RanksOverview, { worker, operator }: Straggler): void {
  const other = typical(answer, worker);
  showLongest(worker, operator, other ? [other.worker] : []);
}

/** The collectives in an order, or those of a group. */
export function showCollectives({
  sort = "",
  group = null,
}: {
  sort?: string;
  group?: string | null;
}) {
  setAddress(
    change(params.collectivesSort, sort),
    change(params.collectivesFilter, group === null ? "" : equals("group", group)),
  );
  COLLECTIVES.show();
}

/** All ranks in an order. */
export function showRanks(sort: string): void {
  setAddress(change(params.ranksSort, sort), change(params.ranksFilter, ""));
  RANKS.show();
}

export function showStep(worker: string, step: string): void {
  selectTrace({ worker });
  goToView("steps", { kind: "step", name: step }, { filter: "" });
}

/** A rank beside one that is as ranks usually are. */
export function compareRanks(run: string, span: string, worker: string, with_: string): void {
  selectTrace({ worker });
  setBaseline({ run, worker: with_, span });
  goToView("compare");
}
