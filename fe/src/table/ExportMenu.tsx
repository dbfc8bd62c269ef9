import { canSave, saveFile } from "../host";
import { t } from "../i18n";
import { Popup } from "./Popup";

interface Props {
  /** Of the saved file, without its ending. */
  readonly name: string;
  readonly csv: () => string;
  readonly json: () => string;
  readonly onCopy: (text: string) => void;
}

/** Saves the rows shown; where an embedder forbids downloads, copies them. */
export function ExportMenu({ name, csv, json, onCopy }: Props) {
  const save = canSave();
  const formats = [
    { label: save ? t.table.saveCsv : t.table.copyCsv, text: csv, type: "text/csv", ending: "csv" },
    {
      label: save ? t.table.saveJson : t.table.copyJson,
      text: json,
      type: "application/json",
      ending: "json",
    },
  ];
  return (
    <Popup label={t.table.export}>
      {(close) => (
        <div className="export">
          {formats.map(({ label, text, type, ending }) => (
            <button
              key={ending}
              type="button"
              className="button quiet"
              onClick={() => {
                if (save) saveFile(`${name}.${ending}`, new Blob([text()], { type }));
                else onCopy(text());
                close();
              }}
            >
              {label}
            </button>
          ))}
        </div>
      )}
    </Popup>
  );
}
