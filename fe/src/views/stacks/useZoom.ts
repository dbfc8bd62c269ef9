import { useMemo } from "react";
import { type StackQuestion, type StacksTable, useStacks } from "../../api";
import { useTrace } from "../../state";
import { isFolded, withAbove } from "./rows";

export interface Zoom {
  /** Of everything: says whether there is anything, and why not. */
  readonly query: ReturnType<typeof useStacks>;
  /** What to draw: it has the entry `root`, and the details below it if they are here yet. */
  readonly shown: StacksTable | undefined;
  /** The trace has no such entry. */
  readonly gone: boolean;
}

/**
 * The stacks with the details of what is zoomed into. A zoom shows at once what is known of that part, and its small
 * entries as soon as the server has sent them.
 */
export function useZoom(question: Omit<StackQuestion, "root">, root: number): Zoom {
  const { sel } = useTrace();
  const query = useStacks(sel, { ...question, root: 0 });
  const whole = query.data;
  const wanted = useMemo(() => {
    if (!whole || root === 0) return false;
    const row = whole.rows.id.indexOf(root);
    return row < 0 || isFolded(whole.rows, row);
  }, [whole, root]);
  const details = useStacks(wanted ? sel : null, { ...question, root: wanted ? root : 0 });
  const shown = useMemo(() => {
    const found = wanted ? details.data : undefined;
    return found && sameQuestion(found, whole) && has(found, root) ? found : whole;
  }, [wanted, details.data, whole, root]);
  const gone = root !== 0 && wanted && details.error?.status === 404;
  return { query, shown, gone };
}

/** An answer that stayed from before may be about something else. */
function sameQuestion({ meta }: StacksTable, whole: StacksTable | undefined): boolean {
  return (
    whole !== undefined &&
    (
      ["run", "worker", "span", "weight", "direction", "files", "backward", "thread"] as const
    ).every((key) => meta[key] === whole.meta[key])
  );
}

function has(answer: StacksTable, root: number): boolean {
  return withAbove(answer).id.includes(root);
}
