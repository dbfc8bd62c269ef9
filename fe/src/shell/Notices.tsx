/** Lines above the view: a link that names something gone, a server that went away. */
import { useState } from "react";
import { inSentence } from "../format";
import { t } from "../i18n";
import { type Dropped, isViewId, page, SCHEMA, useAddress } from "../state";
import { Button, Icon } from "../ui";
import "./notices.css";

interface Props {
  dropped: readonly Dropped[];
  /** The server stopped answering; what is shown is old. */
  lost: boolean;
  onRetry: () => void;
}

export function Notices({ dropped, lost, onRetry }: Props) {
  const [view] = useAddress(page.view);
  const [schema] = useAddress(page.schema);
  const [dismissed, setDismissed] = useState<readonly string[]>([]);
  const texts = dropped.map(({ kind, value }) => t.dropped[kind](inSentence(value)));
  if (view !== "" && !isViewId(view)) texts.push(t.dropped.view(inSentence(view)));
  if (schema !== "" && schema !== SCHEMA) texts.push(t.dropped.schema);
  const shown = texts.filter((text) => !dismissed.includes(text));
  return (
    <>
      {lost && (
        <div className="notice bad" role="alert">
          <span>{t.status.offline}</span>
          <Button onClick={onRetry}>{t.status.retry}</Button>
        </div>
      )}
      {shown.map((text) => (
        <div className="notice" role="status" key={text}>
          <span>{text}</span>
          <Button
            quiet
            icon
            aria-label={t.dropped.dismiss}
            onClick={() => setDismissed([...dismissed, text])}
          >
            <Icon name="close" />
          </Button>
        </div>
      ))}
    </>
  );
}
