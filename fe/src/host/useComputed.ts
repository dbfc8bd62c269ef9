import { type RefObject, useEffect, useState } from "react";
import { type Theme, useTheme } from "./theme";

/** What `read`, always the same function, finds in the computed style of an element with each theme; null before the first. */
export function useComputed<T>(
  element: RefObject<HTMLElement | null>,
  read: (element: HTMLElement) => T,
): T | null {
  const theme = useTheme();
  const [found, setFound] = useState<{ readonly theme: Theme; readonly value: T } | null>(null);
  useEffect(() => {
    if (element.current) setFound({ theme, value: read(element.current) });
  }, [element, read, theme]);
  return found?.value ?? null;
}
