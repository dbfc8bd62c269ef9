/** What bounds a run, in one sentence. */

import type { ReactNode } from "react";
import type { Overview } from "../../api";
import { partColor } from "../../draw/parts";
import { unbroken } from "../../format";
import { boundText, overviewTexts } from "../../i18n";
import { Swatch } from "../../ui";
import { ON_PATH } from "./bounds";
import "./findings.css";

interface Props {
  readonly bound: Overview["bound"];
  /** What the section is called; that of a whole run without it. */
  readonly title?: string;
  /** Facts below the sentence. */
  readonly children: ReactNode;
}

export function BoundSentence({ bound, title = overviewTexts.answer.title, children }: Props) {
  return (
    <section className="answer" aria-label={title}>
      <p className="answer-sentence">
        <Swatch color={partColor(ON_PATH[bound.kind] ?? "unknown")} />
        <strong>{unbroken(boundText(bound))}</strong>
      </p>
      <p className="answer-facts">{children}</p>
    </section>
  );
}
