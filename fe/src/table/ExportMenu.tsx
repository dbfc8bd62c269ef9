import { useState } from "react";
import { count } from "../format";
import { canSave, saveFile } from "../host";
import { t } from "../i18n";
import type { Column, Rows } from "./model";
import { Popup } from "./Popup";
import { toCsv, toJson } from "./text";

interface Props {
  /** Of the saved file, without its ending. */
  readonly name: string;
  /** The columns on the screen, and all there are. */
  readonly shown: readonly Column[];
  readonly columns: readonly Column[];
  /** The rows as they are filtered and sorted. */
  readonly all: () => Exported | Promise<Exported>;
  readonly onCopy: (text: string, rows: number) => void;
  readonly onMessage: (text: string) => void;
}

interface Exported {
  readonly rows: Rows;
  readonly order: readonly number[];
}

const FORMATS = [
  { ending: "csv", type: "text/csv", write: toCsv, save: t.table.saveCsv, copy: t.table.copyCsv },
  {
    ending: "json",
    type: "application/json",
    write: toJson,
    save: t.table.saveJson,
    copy: t.table.copyJson,
  },
] as const;

/** Saves the rows shown; where an embedder forbids downloads, copies them. */
export function ExportMenu({ name, shown, columns, all, onCopy, onMessage }: Props) {
  const [everything, setEverything] = useState(false);
  const save = canSave();

  const run = async ({ ending, type, write }: (typeof FORMATS)[number]) => {
    try {
      const found = all();
      if (found instanceof Promise) onMessage(t.table.exporting);
      const { rows, order } = await found;
      const text = write(everything ? columns : shown, rows, order);
      if (save) {
        saveFile(`${name}.${ending}`, new Blob([text], { type }));
        onMessage(t.table.saved(count(order.length)));
      } else onCopy(text, order.length);
    } catch {
      onMessage(t.table.exportFailed);
    }
  };

  return (
    <Popup label={t.table.export}>
      {(close) => (
        <div className="export">
          <label className="export-all">
            <input
              type="checkbox"
              checked={everything}
              onChange={(event) => setEverything(event.target.checked)}
            />
            {t.table.exportHidden}
          </label>
          {FORMATS.map((format) => (
            <button
              key={format.ending}
              type="button"
              className="button quiet"
              onClick={() => {
                void run(format);
                close();
              }}
            >
              {save ? format.save : format.copy}
            </button>
          ))}
        </div>
      )}
    </Popup>
  );
}
