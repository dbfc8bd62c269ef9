import { useCallback, useEffect, useState } from "react";
import { count } from "../format";
import { copyText } from "../host";
import { tableTexts } from "../i18n";
import { Button } from "../ui";
import { ColumnChooser } from "./ColumnChooser";
import type { DrawnColumn } from "./columns";
import { ExportMenu, type Written } from "./ExportMenu";
import type { Rows, Table } from "./model";
import { toCsv, toJson, toTsv } from "./text";
import type { ColumnState } from "./useColumnState";
import "./tools.css";

const MESSAGE_MS = 2_500;

interface OrderedRows {
  readonly rows: Rows;
  readonly order: readonly number[];
}

/** Rows that are here, or that the server is asked for. */
export type TakeRows = () => OrderedRows | Promise<OrderedRows>;

export interface Taking {
  /** What became of what was copied or saved last, for a moment; empty else. */
  readonly message: string;
  readonly say: (message: string) => void;
  /** Into the clipboard. */
  readonly copy: (written: Written) => Promise<void>;
  readonly copyRow: (row: number, rows: Rows) => void;
}

/** Puts rows into the clipboard and says so. */
export function useTaking(visible: readonly DrawnColumn[]): Taking {
  const [message, say] = useState("");
  useEffect(() => {
    if (!message) return;
    const timer = setTimeout(() => say(""), MESSAGE_MS);
    return () => clearTimeout(timer);
  }, [message]);
  const copy = useCallback(async ({ text, rows }: Written) => {
    const done = await copyText(text);
    say(done ? tableTexts.copied(count(rows)) : tableTexts.copyFailed);
  }, []);
  const copyRow = (row: number, rows: Rows) =>
    void copy({ text: toTsv(columnsOf(visible), rows, [row]), rows: 1 });
  return { message, say, copy, copyRow };
}

interface Props {
  /** Of the saved file, without its ending. */
  readonly id: string;
  readonly table: Table;
  readonly drawn: readonly DrawnColumn[];
  readonly columns: ColumnState;
  readonly taking: Taking;
  /** What is copied. */
  readonly shown: TakeRows;
  /** What a file has, where that is more. */
  readonly all?: TakeRows;
}

/** Which columns, and what can be taken away of the rows. */
export function TableTools({ id, table, drawn, columns, taking, shown, all = shown }: Props) {
  const visible = columnsOf(columns.visible);
  const written = async (take: TakeRows, write: typeof toCsv, hidden: boolean) => {
    const found = take();
    if (found instanceof Promise) taking.say(tableTexts.exporting);
    const { rows, order } = await found;
    const text = write(hidden ? table.columns : visible, rows, order);
    return { text, rows: order.length };
  };
  const failed = () => taking.say(tableTexts.exportFailed);
  return (
    <>
      <ColumnChooser drawn={drawn} columns={columns} />
      <Button
        title={tableTexts.copyHint}
        onClick={() => void written(shown, toTsv, false).then(taking.copy, failed)}
      >
        {tableTexts.copy}
      </Button>
      <ExportMenu
        name={id}
        csv={(hidden) => written(all, toCsv, hidden)}
        json={(hidden) => written(all, toJson, hidden)}
        withHidden={visible.length < table.columns.length}
        onCopy={(text) => void taking.copy(text)}
        onSaved={({ rows }) => taking.say(tableTexts.saved(count(rows)))}
        onFailed={failed}
      />
    </>
  );
}

function columnsOf(drawn: readonly DrawnColumn[]) {
  return drawn.map(({ column }) => column);
}
