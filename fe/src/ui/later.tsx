import { type ComponentType, useEffect, useState } from "react";
import { settleAreas } from "../i18n/current";
import { Skeleton } from "./Async";

export type Later<P> = ComponentType<P> & {
  /** Fetches the code before it is shown. A failure is told when it is. */
  readonly preload: () => void;
};

/** The code of a component did not arrive: the server was away, or has another version now. */
export class CodeMissing extends Error {
  override name = "CodeMissing";
}

/**
 * A component whose code is fetched when it is first shown; `Waiting` stands in its place until then.
 *
 * In place of React's `lazy`, which keeps what has arrived back for 300 ms after a fallback was shown. Browsers keep the
 * failure of an import, so `Boundary` loads the page again.
 */
export function later<P extends object>(
  load: () => Promise<{ default: ComponentType<P> }>,
  Waiting: ComponentType<P> = Skeleton,
): Later<P> {
  let Loaded: ComponentType<P> | null = null;
  const fetched = async () => {
    if (Loaded) return;
    await settleAreas();
    Loaded = (await load()).default;
  };
  function Later(props: P) {
    const [, setArrived] = useState(Loaded !== null);
    const [error, setError] = useState<Error | null>(null);
    useEffect(() => {
      if (Loaded) return;
      fetched().then(
        () => setArrived(true),
        (cause) => setError(new CodeMissing(String(cause))),
      );
    }, []);
    if (error) throw error;
    return Loaded ? <Loaded {...props} /> : <Waiting {...props} />;
  }
  const preload = () => void fetched().catch(() => {});
  return Object.assign(Later, { preload });
}
