/** What a key does in the timeline. Pure; their meaning in words is in i18n. `/` and `?` are the page's. */

export type KeyAction =
  | { readonly type: "zoom"; readonly factor: number }
  /** By a share of the width. */
  | { readonly type: "pan"; readonly share: number }
  /** By a share of the height. */
  | { readonly type: "scroll"; readonly share: number }
  | { readonly type: "neighbour"; readonly by: -1 | 1 }
  | { readonly type: "depth"; readonly by: -1 | 1 }
  | { readonly type: "sameName"; readonly by: -1 | 1 }
  | { readonly type: "step"; readonly by: -1 | 1 }
  /** Along the critical path; from one moment that is marked to the next. */
  | { readonly type: "along" | "flag"; readonly by: -1 | 1 }
  /** To what caused it, or to what it caused. */
  | { readonly type: "chain"; readonly by: -1 | 1 }
  | { readonly type: "partner" | "measure" }
  | { readonly type: "fit" | "all" | "range" | "pin" | "inspect" | "bookmark" | "back" };

interface Key {
  readonly key: string;
  readonly shiftKey: boolean;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
}

const CLOSER = 0.6;
const NEAR = 0.15;
const FAR = 0.75;

/** Null: the key means nothing here, and the page may have it. */
export function keyAction({ key, shiftKey, ctrlKey, metaKey, altKey }: Key): KeyAction | null {
  if (ctrlKey || metaKey || altKey) return null;
  const share = shiftKey ? FAR : NEAR;
  // With Shift a letter is a capital.
  switch (key.length === 1 ? key.toLowerCase() : key) {
    case "w":
    case "+":
    case "=":
      return { type: "zoom", factor: shiftKey ? CLOSER ** 3 : CLOSER };
    case "s":
    case "-":
      return { type: "zoom", factor: 1 / (shiftKey ? CLOSER ** 3 : CLOSER) };
    case "a":
      return { type: "pan", share: -share };
    case "d":
      return { type: "pan", share };
    case "ArrowLeft":
      return { type: "neighbour", by: -1 };
    case "ArrowRight":
      return { type: "neighbour", by: 1 };
    case "ArrowUp":
      return { type: "depth", by: -1 };
    case "ArrowDown":
      return { type: "depth", by: 1 };
    case "PageUp":
      return { type: "scroll", share: -FAR };
    case "PageDown":
      return { type: "scroll", share: FAR };
    case ",":
      return { type: "sameName", by: -1 };
    case ".":
      return { type: "sameName", by: 1 };
    case "[":
      return { type: "step", by: -1 };
    case "]":
      return { type: "step", by: 1 };
    case "c":
      return { type: "along", by: shiftKey ? -1 : 1 };
    case "n":
      return { type: "flag", by: shiftKey ? -1 : 1 };
    case "u":
      return { type: "chain", by: shiftKey ? 1 : -1 };
    case "r":
      return { type: "partner" };
    case "x":
      return { type: "measure" };
    case "f":
      return { type: "fit" };
    case "0":
    case "Home":
      return { type: "all" };
    case "m":
      return { type: "range" };
    case "p":
      return { type: "pin" };
    case "b":
      return { type: "bookmark" };
    case "Enter":
      return { type: "inspect" };
    case "Escape":
      return { type: "back" };
    default:
      return null;
  }
}
