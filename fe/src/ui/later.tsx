import { type ComponentType, useEffect, useState } from "react";
import { Skeleton } from "./Async";

/**
 * A component whose code is fetched when it is first shown.
 *
 * In place of React's `lazy`, which keeps what has arrived back for 300 ms after a fallback was shown, and never
 * tries again after a failure.
 */
export function later<P extends object>(
  load: () => Promise<{ default: ComponentType<P> }>,
): ComponentType<P> {
  let Loaded: ComponentType<P> | null = null;
  return function Later(props: P) {
    const [, setArrived] = useState(Loaded !== null);
    const [error, setError] = useState<Error | null>(null);
    useEffect(() => {
      if (Loaded) return;
      load().then(
        (module) => {
          Loaded = module.default;
          setArrived(true);
        },
        (cause) => setError(cause instanceof Error ? cause : new Error(String(cause))),
      );
    }, []);
    if (error) throw error;
    return Loaded ? <Loaded {...props} /> : <Skeleton />;
  };
}
