/** What a key means when no field or dialog wants it. Pure. */
export type Action =
  | { type: "view"; index: number }
  | { type: "filter" }
  | { type: "help" }
  | { type: "clear" };

export interface Key {
  key: string;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
}

export function actionFor(event: Key): Action | null {
  if (event.ctrlKey || event.metaKey || event.altKey) return null;
  if (/^[1-9]$/.test(event.key)) return { type: "view", index: Number(event.key) - 1 };
  if (event.key === "/") return { type: "filter" };
  if (event.key === "?") return { type: "help" };
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
