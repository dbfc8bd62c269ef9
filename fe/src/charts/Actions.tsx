/** The buttons in the corner of a picture: save it, or show its numbers as a table. */
import { type ReactNode, useEffect, useState } from "react";
import { canCopyImages, canSave } from "../host";
import { chartsTexts, t } from "../i18n";
import type { FileKind } from "./scene";
import "./charts.css";

interface Props {
  readonly asTable: boolean;
  readonly onTable: (asTable: boolean) => void;
  readonly onSave: (kind: FileKind) => Promise<boolean>;
}

export function Actions({ asTable, onTable, onSave }: Props) {
  return (
    <div className="chart-actions">
      {!asTable && <SaveButtons onSave={onSave} />}
      <ActionButton
        label={asTable ? chartsTexts.showChart : chartsTexts.showTable}
        onClick={() => onTable(!asTable)}
      >
        {asTable ? chartsTexts.chart : chartsTexts.table}
      </ActionButton>
    </div>
  );
}

/** None where nothing can be saved or copied. */
export function SaveButtons({ onSave }: Pick<Props, "onSave">) {
  const kinds = canSave() ? (["png", "svg"] as const) : [];
  return (
    <>
      {canCopyImages() && <CopyPicture onSave={onSave} />}
      {kinds.map((kind) => (
        <ActionButton key={kind} label={chartsTexts[kind]} onClick={() => void onSave(kind)}>
          {kind.toUpperCase()}
        </ActionButton>
      ))}
    </>
  );
}

const FEEDBACK_MS = 2_000;

function CopyPicture({ onSave }: Pick<Props, "onSave">) {
  const [said, setSaid] = useState<string | null>(null);
  useEffect(() => {
    if (said === null) return;
    const timer = setTimeout(() => setSaid(null), FEEDBACK_MS);
    return () => clearTimeout(timer);
  }, [said]);
  return (
    <ActionButton
      label={said ?? chartsTexts.copy}
      onClick={() =>
        void onSave("copy").then((done) => setSaid(done ? t.copy.copied : t.copy.refused))
      }
    >
      {said ?? t.copy.copy}
    </ActionButton>
  );
}

function ActionButton(props: { label: string; onClick: () => void; children: ReactNode }) {
  return (
    <button
      type="button"
      className="chart-action"
      title={props.label}
      aria-label={props.label}
      onClick={props.onClick}
    >
      {props.children}
    </button>
  );
}
