import { useEffect, useMemo, useState } from "react";
import { count } from "../format";
import { copyText } from "../host";
import { t } from "../i18n";
import { ColumnChooser } from "./ColumnChooser";
import type { DrawnColumn } from "./columns";
import { ExportMenu } from "./ExportMenu";
import type { Rows } from "./model";
import { toCsv, toJson, toTsv } from "./text";
import type { ColumnState } from "./useColumnState";

const MESSAGE_MS = 2_500;

export interface Copying {
  /** What became of the last copy, for a moment; empty else. */
  readonly message: string;
  readonly copyText: (text: string, rows: number) => void;
  /** As text for a spreadsheet. */
  readonly copyRows: (order: readonly number[]) => void;
}

/** Puts rows into the clipboard and says so. */
export function useCopyRows(visible: readonly DrawnColumn[], rows: Rows): Copying {
  const [message, setMessage] = useState("");
  useEffect(() => {
    if (!message) return;
    const timer = setTimeout(() => setMessage(""), MESSAGE_MS);
    return () => clearTimeout(timer);
  }, [message]);
  return useMemo(() => {
    const copy = async (text: string, copied: number) => {
      const done = await copyText(text);
      setMessage(done ? t.table.copied(count(copied)) : t.table.copyFailed);
    };
    const columns = visible.map(({ column }) => column);
    return {
      message,
      copyText: (text, copied) => void copy(text, copied),
      copyRows: (order) => void copy(toTsv(columns, rows, order), order.length),
    };
  }, [message, visible, rows]);
}

interface Props {
  /** Of the saved file, without its ending. */
  readonly id: string;
  readonly drawn: readonly DrawnColumn[];
  readonly columns: ColumnState;
  readonly rows: Rows;
  readonly order: readonly number[];
  readonly copying: Copying;
}

/** Which columns, and what can be taken away of the rows shown. */
export function TableTools({ id, drawn, columns, rows, order, copying }: Props) {
  const shown = columns.visible.map(({ column }) => column);
  return (
    <>
      <ColumnChooser drawn={drawn} columns={columns} />
      <button
        type="button"
        className="button"
        title={t.table.copyHint}
        onClick={() => copying.copyRows(order)}
      >
        {t.table.copy}
      </button>
      <ExportMenu
        name={id}
        csv={() => toCsv(shown, rows, order)}
        json={() => toJson(shown, rows, order)}
        onCopy={(text) => copying.copyText(text, order.length)}
      />
    </>
  );
}
