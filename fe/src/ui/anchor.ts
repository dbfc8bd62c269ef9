/** A place on the page that clicks lead to: the id of its element, and how to bring it into view. */
interface Anchor {
  readonly id: string;
  readonly show: () => void;
}

/** `block`: where in the window; "nearest" moves no more than is needed. */
export function anchor(id: string, block: ScrollLogicalPosition = "start"): Anchor {
  return { id, show: () => document.getElementById(id)?.scrollIntoView({ block }) };
}
