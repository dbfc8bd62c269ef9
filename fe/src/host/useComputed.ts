import { type RefObject, useEffect, useState } from "react";
import { useTheme } from "./theme";

/** What `read` finds in the computed style of an element, read again with each theme; null before the first. */
export function useComputed<T>(
  element: RefObject<HTMLElement | null>,
  read: (element: HTMLElement) => T,
): T | null {
  const theme = useTheme();
  const [found, setFound] = useState<T | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the theme is read from the page's computed style
  useEffect(() => {
    if (element.current) setFound(() => read(element.current as HTMLElement));
  }, [element, theme]);
  return found;
}
