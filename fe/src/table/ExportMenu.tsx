import { useState } from "react";
import { canSave, saveFile } from "../host";
import { tableTexts } from "../i18n";
import { Button, Popup } from "../ui";

/** The text of some rows. */
export interface Written {
  readonly text: string;
  readonly rows: number;
}

/** `hidden`: with the columns that are not shown. */
type Write = (hidden: boolean) => Promise<Written>;

interface Props {
  /** Of the saved file, without its ending. */
  readonly name: string;
  readonly csv: Write;
  readonly json: Write;
  /** There are columns that are not shown. */
  readonly withHidden: boolean;
  readonly onCopy: (written: Written) => void;
  readonly onSaved: (written: Written) => void;
  readonly onFailed: () => void;
}

/** Saves the rows shown; where an embedder forbids downloads, copies them. */
export function ExportMenu({ name, csv, json, withHidden, onCopy, onSaved, onFailed }: Props) {
  const [hidden, setHidden] = useState(false);
  const save = canSave();
  const formats = [
    {
      label: save ? tableTexts.saveCsv : tableTexts.copyCsv,
      write: csv,
      type: "text/csv",
      ending: "csv",
    },
    {
      label: save ? tableTexts.saveJson : tableTexts.copyJson,
      write: json,
      type: "application/json",
      ending: "json",
    },
  ];
  const run = async ({ write, type, ending }: (typeof formats)[number]) => {
    try {
      const written = await write(hidden);
      if (!save) {
        onCopy(written);
        return;
      }
      saveFile(`${name}.${ending}`, new Blob([written.text], { type }));
      onSaved(written);
    } catch {
      onFailed();
    }
  };
  return (
    <Popup label={tableTexts.export}>
      {(close) => (
        <div className="export">
          {withHidden && (
            <label className="export-all">
              <input
                type="checkbox"
                checked={hidden}
                onChange={(event) => setHidden(event.target.checked)}
              />
              {tableTexts.exportHidden}
            </label>
          )}
          {formats.map((format) => (
            <Button
              quiet
              key={format.ending}
              onClick={() => {
                void run(format);
                close();
              }}
            >
              {format.label}
            </Button>
          ))}
        </div>
      )}
    </Popup>
  );
}
