/** From the program to the device: the chain that the selected slice belongs to. */

import { Fragment } from "react";
import type { SliceDetails } from "../../api";
import { traceTexts as text } from "../../i18n";
import { SliceLink } from "./SliceLink";

type Props = Pick<SliceDetails, "chain" | "row" | "forward" | "backward">;

export function Chain({ chain, row, forward, backward }: Props) {
  const partner = forward[0] ?? backward[0];
  if (chain.length < 2 && !partner) return null;
  return (
    <nav className="trace-chain" aria-label={text.chain}>
      {chain.map(({ place, slice }, at) => (
        <Fragment key={slice.row}>
          {at > 0 && <span aria-hidden="true">›</span>}
          <SliceLink slice={slice} current={slice.row === row}>
            <small className="muted">{text.chainPlaces[place]}</small>{" "}
          </SliceLink>
        </Fragment>
      ))}
      <small className="muted">
        <kbd>U</kbd> / <kbd>Shift U</kbd>
        {partner && (
          <>
            {" "}
            · <kbd>R</kbd> {forward[0] ? text.toForward : text.toBackward}
          </>
        )}
      </small>
    </nav>
  );
}
