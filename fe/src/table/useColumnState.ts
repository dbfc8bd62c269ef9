import {
  type ColumnSizingState,
  columnResizingFeature,
  columnSizingFeature,
  columnVisibilityFeature,
  type Header,
  tableFeatures,
  useTable,
} from "@tanstack/react-table";
import { useCallback, useMemo, useState } from "react";
import type { DrawnColumn } from "./columns";
import { loadVisibility, saveVisibility, type Visibility } from "./store";

const features = tableFeatures({
  columnVisibilityFeature,
  columnSizingFeature,
  columnResizingFeature,
});

const MIN_WIDTH = 60;

// Rows never enter TanStack's row model: a hundred thousand row objects would cost more than they give.
const NO_ROWS: object[] = [];

export type ColumnHeader = Header<typeof features, object, unknown>;

export interface ColumnState {
  readonly visible: readonly DrawnColumn[];
  readonly headers: readonly ColumnHeader[];
  readonly isVisible: (key: string) => boolean;
  readonly setVisible: (key: string, visible: boolean) => void;
  /** Back to the columns and widths the view came with. */
  readonly reset: () => void;
  /** For `grid-template-columns`. */
  readonly template: string;
  /** Pixels that the columns need at least. */
  readonly width: number;
}

/** Which columns are shown and how wide they are. */
export function useColumnState(id: string, drawn: readonly DrawnColumn[]): ColumnState {
  const [stored, setStored] = useState<Visibility>(() => loadVisibility(id));
  const [sizing, setSizing] = useState<ColumnSizingState>({});

  const columns = useMemo(
    () =>
      drawn.map(({ column, width }) => ({
        id: column.key,
        header: column.label,
        size: width,
        minSize: MIN_WIDTH,
      })),
    [drawn],
  );
  const visibility = useMemo(
    () =>
      Object.fromEntries(
        drawn.map(({ column }) => [column.key, stored[column.key] ?? !column.hidden]),
      ),
    [drawn, stored],
  );
  const table = useTable({
    features,
    columns,
    data: NO_ROWS,
    state: { columnVisibility: visibility, columnSizing: sizing },
    onColumnSizingChange: setSizing,
    columnResizeMode: "onChange",
  });

  const setVisible = useCallback(
    (key: string, visible: boolean) => {
      const next = { ...stored, [key]: visible };
      setStored(next);
      saveVisibility(id, next);
    },
    [id, stored],
  );

  const reset = useCallback(() => {
    setStored({});
    setSizing({});
    saveVisibility(id, {});
  }, [id]);

  const headers = table.getHeaderGroups()[0]?.headers ?? [];
  const visible = useMemo(
    () => drawn.filter(({ column }) => visibility[column.key]),
    [drawn, visibility],
  );
  const growing = visible.find(({ column }) => column.grow) ?? visible[0];
  // One column takes what is left over, until the user gives it a width.
  const template = headers
    .map((header) => {
      const [key, size] = [header.column.id, header.getSize()];
      if (key in sizing) return `${size}px`;
      if (key === growing?.column.key) return `minmax(${size}px, 1fr)`;
      const most = visible.find(({ column }) => column.key === key)?.most ?? size;
      return most > size && !growing?.column.grow ? `minmax(${size}px, ${most}px)` : `${size}px`;
    })
    .join(" ");
  return {
    visible,
    headers,
    isVisible: (key) => visibility[key] ?? false,
    setVisible,
    reset,
    template,
    width: table.getTotalSize(),
  };
}
