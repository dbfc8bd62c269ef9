import type { ReactNode } from "react";
import { unbroken } from "../../format";
import { Each } from "../../ui";

/** A text in which code stands between backticks. */
export function inCode(text: string): ReactNode {
  return (
    <Each of={text.split("`")}>
      {(piece, at) => (at % 2 === 1 ? <code>{piece}</code> : unbroken(piece))}
    </Each>
  );
}
