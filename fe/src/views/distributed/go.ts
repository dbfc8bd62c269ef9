/** From numbers of the run page to the events behind them. */
import { longestSlice } from "../../shell/places";
import { goToView, selectTrace, setBaseline } from "../../state";

/** An event of a rank on its timeline; without a row, the rank's timeline. */
export function showEvent(worker: string, row: number | null): void {
  selectTrace({ worker });
  goToView(
    "trace",
    null,
    row === null ? {} : { event: { type: "row", worker: null, row }, window: null, search: "" },
  );
}

/** The longest slice of a name on the timeline of a rank, with other ranks below it. */
export function showLongest(
  worker: string,
  name: string | null,
  workers: readonly string[] = [],
): void {
  selectTrace({ worker });
  goToView("trace", null, { ...(name === null ? {} : longestSlice(name)), workers });
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
