import { change, exact, value } from "../format";
import { tableTexts } from "../i18n";
import { Facts } from "../ui";
import { inWords } from "./columns";
import { type Cell, type Column, cellOf, isMissing, type Table, wordOf } from "./model";

interface Props {
  readonly table: Table;
  readonly row: number;
  /** Columns that are shown elsewhere. */
  readonly without?: readonly string[];
}

/** One row as a list: label and value, each with the unit that suits it. */
export function RowNumbers({ table, row, without = [] }: Props) {
  return (
    <Facts
      look="edges"
      facts={table.columns
        .filter(({ key }) => !without.includes(key))
        .map(inWords)
        .map((column) => {
          const cell = cellOf(table.rows, column.key, row);
          return {
            key: column.key,
            name: column.label,
            help: column.help,
            value: cellText(cell, column),
            title: typeof cell === "number" ? exact(cell, column.unit) : undefined,
          };
        })}
    />
  );
}

function cellText(cell: Cell, column: Column): string {
  const { type, unit } = column;
  if (type === "number")
    return (column.change ? change : value)(typeof cell === "number" ? cell : null, unit);
  if (type === "bool")
    return cell === true ? tableTexts.yes : cell === false ? tableTexts.no : tableTexts.unknown;
  return isMissing(cell)
    ? tableTexts.unknown
    : (wordOf(column.words, String(cell)) ?? String(cell));
}
