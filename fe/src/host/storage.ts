/** Storage that may be missing (private windows, sandboxed frames): then it forgets. */

export function read(kind: "localStorage" | "sessionStorage", key: string): string | null {
  try {
    return window[kind].getItem(key);
  } catch {
    return null;
  }
}

export function write(
  kind: "localStorage" | "sessionStorage",
  key: string,
  value: string | null,
): void {
  try {
    if (value === null) window[kind].removeItem(key);
    else window[kind].setItem(key, value);
  } catch {
    // Full or forbidden: the setting lasts until the page is left.
  }
}
