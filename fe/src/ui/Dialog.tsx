import { type ReactNode, useId } from "react";
import { t } from "../i18n";
import { Button } from "./Button";
import { Icon } from "./Icon";
import { useModal } from "./modal";
import "./dialog.css";

interface Props {
  title: string;
  onClose: () => void;
  children: ReactNode;
}

/** A modal dialog; mounted means open. */
export function Dialog({ title, onClose, children }: Props) {
  const modal = useModal(onClose);
  const id = useId();
  return (
    <dialog {...modal.props} className="dialog" aria-labelledby={id}>
      <div className="dialog-head">
        <h2 id={id}>{title}</h2>
        <Button quiet icon aria-label={t.panel.close} onClick={modal.close}>
          <Icon name="close" />
        </Button>
      </div>
      <div className="dialog-body">{children}</div>
    </dialog>
  );
}
