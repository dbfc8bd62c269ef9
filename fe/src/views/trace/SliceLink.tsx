import type { ReactNode } from "react";
import type { SliceRef } from "../../api";
import { bareName } from "../../format";
import { Link } from "../../ui";
import { pickedSlice } from "./pickedSlice";
import { useModel, useTraceState } from "./useTraceModel";

interface Props {
  /** Of the rank of the selected slice. */
  readonly slice: SliceRef;
  readonly current?: boolean;
  /** Before its name. */
  readonly children?: ReactNode;
}

/** A slice by its name; a click selects it. */
export function SliceLink({ slice, current = false, children }: Props) {
  const model = useModel();
  const { rank } = useTraceState().event;
  return (
    <Link
      aria-current={current ? "true" : undefined}
      title={slice.name}
      onClick={() => rank && model.pick(pickedSlice(rank, slice))}
    >
      {children}
      {slice.short_name ?? bareName(slice.name)}
    </Link>
  );
}
