/** The buttons in the corner of a picture: save it, or show its numbers as a table. */
import type { ReactNode } from "react";
import { canSave } from "../host";
import { chartsTexts } from "../i18n";
import type { FileKind } from "./paint";
import "./charts.css";

interface Props {
  readonly asTable: boolean;
  readonly onTable: (asTable: boolean) => void;
  readonly onSave: (kind: FileKind) => void;
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

/** None where nothing can be saved. */
export function SaveButtons({ onSave }: Pick<Props, "onSave">) {
  if (!canSave()) return null;
  return (["png", "svg"] as const).map((kind) => (
    <ActionButton key={kind} label={chartsTexts[kind]} onClick={() => onSave(kind)}>
      {kind.toUpperCase()}
    </ActionButton>
  ));
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
