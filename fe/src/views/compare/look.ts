/** How the view looks, as the address says it. */
import { useMemo } from "react";
import type { Compared, CompareMeasure } from "../../api";
import { useAddress } from "../../state";
import { params } from "./params";
import { byName, type Divisors, dividesBySteps, type Part, partsOf, UNDIVIDED } from "./parts";

export interface Look {
  readonly measure: CompareMeasure;
  /** Parts of one name as one. */
  readonly grouped: boolean;
  /** Whether there are steps to divide by. */
  readonly canDivide: boolean;
  readonly perStep: boolean;
  readonly setSum: (sum: "all" | "step") => void;
  readonly divisors: Divisors;
  readonly page: number;
  readonly setPage: (page: number) => void;
  /** Of the level shown. */
  readonly parts: readonly Part[];
}

export function useLook(answer: Compared | undefined): Look {
  const [wanted] = useAddress(params.measure);
  const [order] = useAddress(params.order);
  const [sum, setSum] = useAddress(params.sum);
  const [page, setPage] = useAddress(params.page);
  const before = answer?.meta.steps ?? 0;
  const after = answer?.meta.exp_steps ?? 0;
  const perStep = dividesBySteps(sum, before, after);
  const grouped = order === "name";
  const divisors = useMemo(
    () => (perStep ? { before, after } : UNDIVIDED),
    [perStep, before, after],
  );
  const parts = useMemo(() => {
    if (!answer) return [];
    const each = partsOf(answer, divisors);
    return grouped ? byName(each) : each;
  }, [answer, divisors, grouped]);
  const device = answer ? answer.totals.device_ns > 0 || answer.totals.exp_device_ns > 0 : true;
  return {
    // On a host without a device all times are those of the host.
    measure: device ? wanted : "total_ns",
    grouped,
    canDivide: before > 0 && after > 0 && (before > 1 || after > 1),
    perStep,
    // What would be chosen anyway is not written.
    setSum: (next) =>
      setSum((next === "step") === dividesBySteps(null, before, after) ? null : next),
    divisors,
    page,
    setPage,
    parts,
  };
}
