/** The drawer at the right: the selected operator or kernel, whatever view is shown. */
import type { ReactNode } from "react";
import { t } from "../i18n";
import { goToView, type Selected, useViewId } from "../state";
import { HOME } from "../views/registry";
import { CopyButton } from "./CopyButton";
import { Icon } from "./Icon";

interface Props {
  selected: Selected;
  onClose: () => void;
  children: ReactNode;
}

export function Inspector({ selected, onClose, children }: Props) {
  const [view] = useViewId();
  const home = HOME[selected.kind];
  return (
    <aside className="inspector" aria-label={t.inspector.label}>
      <div className="inspector-head">
        <span className="badge">{t.inspector.kinds[selected.kind]}</span>
        <button
          type="button"
          className="button quiet icon"
          aria-label={t.inspector.close}
          title={`${t.inspector.close} (Esc)`}
          onClick={onClose}
        >
          <Icon name="close" />
        </button>
      </div>
      <h2 className="inspector-name">{selected.name}</h2>
      <div className="inspector-actions">
        <CopyButton text={selected.name} label={t.inspector.copyName} />
        {view !== home && (
          <button type="button" className="button" onClick={() => goToView(home)}>
            {t.inspector.showIn(t.views[home])}
          </button>
        )}
      </div>
      <div className="inspector-body">{children}</div>
    </aside>
  );
}
