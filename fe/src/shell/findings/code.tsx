import type { ReactNode } from "react";
import { unbroken } from "../../format";

/** A text in which code stands between backticks. */
export function inCode(text: string): ReactNode {
  return text.split("`").map((piece, at) =>
    // Places do not move: the text is fixed.
    // biome-ignore lint/suspicious/noArrayIndexKey: see above
    at % 2 === 1 ? <code key={at}>{piece}</code> : unbroken(piece),
  );
}
