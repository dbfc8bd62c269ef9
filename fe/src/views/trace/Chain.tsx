/** From the program to the device: the chain that the selected slice belongs to. */

import { Fragment } from "react";
import type { SliceDetails, SliceRef } from "../../api";
import { bareName } from "../../format";
import { traceTexts as text } from "../../i18n";
import { Link } from "../../ui";

interface Props {
  readonly details: SliceDetails;
  readonly onPick: (slice: SliceRef) => void;
}

export function Chain({ details: { chain, row, forward, backward }, onPick }: Props) {
  const partner = forward[0] ?? backward[0];
  if (chain.length < 2 && !partner) return null;
  return (
    <nav className="trace-chain" aria-label={text.chain}>
      {chain.map(({ place, slice }, at) => (
        <Fragment key={slice.row}>
          {at > 0 && <span aria-hidden="true">›</span>}
          <Link
            aria-current={slice.row === row ? "true" : undefined}
            title={slice.name}
            onClick={() => onPick(slice)}
          >
            <small className="muted">{text.chainPlaces[place]}</small>{" "}
            {slice.short_name ?? bareName(slice.name)}
          </Link>
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
