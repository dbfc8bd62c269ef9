import { tableTexts } from "../i18n";
import { Button, Popup } from "../ui";
import type { DrawnColumn } from "./columns";
import type { ColumnState } from "./useColumnState";

interface Props {
  readonly drawn: readonly DrawnColumn[];
  readonly columns: ColumnState;
}

/** Which columns are shown. The first one stays: it says what the row is. */
export function ColumnChooser({ drawn, columns }: Props) {
  return (
    <Popup label={tableTexts.columns}>
      {() => (
        <fieldset className="chooser">
          <legend className="visually-hidden">{tableTexts.columns}</legend>
          {drawn.map(({ column }, index) => (
            <label key={column.key} title={column.help ?? undefined}>
              <input
                type="checkbox"
                checked={columns.isVisible(column.key)}
                disabled={index === 0}
                onChange={(event) => columns.setVisible(column.key, event.target.checked)}
              />
              {column.label}
            </label>
          ))}
          <Button onClick={columns.reset}>{tableTexts.columnsReset}</Button>
        </fieldset>
      )}
    </Popup>
  );
}
