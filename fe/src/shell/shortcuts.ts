/** What a key means when no field or dialog wants it. Pure. */
import { allViews, type ViewId } from "../state/views";

export type Action =
  | { type: "view"; view: ViewId }
  /** The next key is the letter of a view. */
  | { type: "jump" }
  | { type: "palette" }
  | { type: "filter" }
  | { type: "help" }
  | { type: "clear" };

export interface Key {
  key: string;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
}

/** `jumping`: the key before was `g`. */
export function actionFor(event: Key, jumping = false): Action | null {
  const key = event.key.toLowerCase();
  if ((event.ctrlKey || event.metaKey) && !event.altKey && key === "k") return { type: "palette" };
  if (event.ctrlKey || event.metaKey || event.altKey) return null;
  if (jumping) {
    const view = allViews().find((each) => each.key === key);
    if (view) return { type: "view", view: view.id };
  }
  const numbered = allViews().find(({ digit }) => String(digit) === key);
  if (numbered) return { type: "view", view: numbered.id };
  if (key === "g") return { type: "jump" };
  if (key === "/") return { type: "filter" };
  if (key === "?") return { type: "help" };
  if (event.key === "Escape") return { type: "clear" };
  return null;
}

/** True where letters are text. Escape still works there. */
export function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}
