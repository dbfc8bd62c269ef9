import { type RefObject, useLayoutEffect, useRef } from "react";

/**
 * The value of the latest render, for listeners that are added once. It is there as soon as the page shows that
 * render: an ordinary effect runs later, and on a busy machine a key falls between the two.
 */
export function useLatest<T>(value: T): RefObject<T> {
  const latest = useRef(value);
  useLayoutEffect(() => {
    latest.current = value;
  });
  return latest;
}
