import { t } from "../i18n";
import { VIEW_IDS } from "../state";
import { Dialog } from "./Dialog";

export function KeysDialog({ onClose }: { onClose: () => void }) {
  const keys: [string, string][] = [
    ...VIEW_IDS.map((id, index): [string, string] => [String(index + 1), t.keys.view(t.views[id])]),
    ["/", t.keys.filter],
    ["Esc", t.keys.escape],
    ["?", t.keys.help],
  ];
  return (
    <Dialog title={t.keys.title} onClose={onClose}>
      <dl className="keys">
        {keys.map(([key, text]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
