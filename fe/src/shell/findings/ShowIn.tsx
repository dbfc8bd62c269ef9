import { dialogsTexts } from "../../i18n";
import {
  goToView,
  type Picked,
  type ViewId,
  type ViewLook,
  type ViewParams,
  viewName,
} from "../../state";
import { Button, Link } from "../../ui";

interface Props<Id extends ViewId> {
  readonly view: Id;
  /** What is picked there; nothing said leaves what is. */
  readonly select?: Picked | null | undefined;
  readonly look?: Id extends keyof ViewParams ? ViewLook<Id> : never;
  /** As a word of a text. */
  readonly inText?: boolean;
  /** In place of going there. */
  readonly onClick?: (() => void) | undefined;
}

/** "Show in …": leads to a view. */
export function ShowIn<Id extends ViewId>({ view, select, look, inText, onClick }: Props<Id>) {
  const Kind = inText ? Link : Button;
  return (
    <Kind onClick={onClick ?? (() => goToView(view as keyof ViewParams, select, look))}>
      {dialogsTexts.inspector.showIn(viewName(view))}
    </Kind>
  );
}
