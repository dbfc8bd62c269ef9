import {
  type ColumnSizingState,
  columnResizingFeature,
  columnSizingFeature,
  columnVisibilityFeature,
  type Header,
  tableFeatures,
  useTable,
} from "@tanstack/react-table";
import { useCallback, useMemo, useRef, useState } from "react";
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
  /** Before a column is dragged wider: the pixels that it and those before it have. */
  readonly grip: (widths: readonly number[]) => void;
  /** For `grid-template-columns`. */
  readonly template: string;
  /** Pixels that the columns need at least. */
  readonly width: number;
}

/** Which columns are shown and how wide they are. */
export function useColumnState(id: string, drawn: readonly DrawnColumn[]): ColumnState {
  const [stored, setStored] = useState<Visibility>(() => loadVisibility(id));
  const [sizing, setSizing] = useState<ColumnSizingState>({});

  const gripped = useRef<{ widths: readonly number[]; more: number }>({ widths: [], more: 0 });

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
    onColumnSizingChange: (update) =>
      setSizing((old) => held(typeof update === "function" ? update(old) : update, old)),
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
  const grip = (widths: readonly number[]) => {
    const size = headers[widths.length - 1]?.getSize() ?? 0;
    gripped.current = { widths, more: (widths.at(-1) ?? size) - size };
  };
  /** The edge follows the pointer: the column grows from the width it had, and those before it stay as they are. */
  const held = (next: ColumnSizingState, old: ColumnSizingState): ColumnSizingState => {
    const { widths, more } = gripped.current;
    const [id, ...before] = headers
      .slice(0, widths.length)
      .map((header) => header.id)
      .reverse();
    const size = id === undefined ? undefined : next[id];
    if (id === undefined || size === undefined || size === old[id]) return next;
    const kept = Object.fromEntries(before.reverse().map((each, at) => [each, widths[at] ?? 0]));
    return { ...kept, ...next, [id]: size + more };
  };
  const visible = useMemo(
    () => drawn.filter(({ column }) => visibility[column.key]),
    [drawn, visibility],
  );
  // Where there is more room than all need, each is wider by the same share: a name stays near its numbers. Where there is
  // less, numbers have what they need, and texts share the rest. A width that the user gave stays.
  const template = headers
    .map((header) => {
      const [key, size] = [header.column.id, header.getSize()];
      const room = visible.find(({ column }) => column.key === key)?.room ?? size;
      return key in sizing ? `${size}px` : `minmax(${size}px, ${room}fr)`;
    })
    .join(" ");
  return {
    visible,
    headers,
    isVisible: (key) => visibility[key] ?? false,
    setVisible,
    reset,
    grip,
    template,
    width: table.getTotalSize(),
  };
}
