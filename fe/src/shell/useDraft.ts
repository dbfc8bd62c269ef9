import { useEffect, useState } from "react";

/** A value that is shown as it is changed, and written when it has stayed the same for a while. `write` keeps its identity. */
export function useDraft<T>(
  written: T,
  write: (value: T) => void,
  milliseconds: number,
): [T, (value: T) => void] {
  const [draft, setDraft] = useState<{ readonly value: T } | null>(null);
  useEffect(() => {
    if (draft === null) return;
    const timer = setTimeout(() => {
      write(draft.value);
      setDraft(null);
    }, milliseconds);
    return () => clearTimeout(timer);
  }, [draft, write, milliseconds]);
  return [draft ? draft.value : written, (value) => setDraft({ value })];
}
