import { useEffect, useState } from "react";

/** A value that follows when it has stayed the same for a moment: a slider must not ask the server at every pixel. */
export function useSettled<T>(value: T, ms: number): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return settled;
}
