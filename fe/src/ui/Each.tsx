import { Fragment, type ReactNode } from "react";

interface Props<T> {
  readonly of: readonly T[];
  readonly children: (each: T, at: number) => ReactNode;
}

/** Draws things that have no other identity than their place: the same one may be there twice. */
export function Each<T>({ of, children }: Props<T>) {
  return of.map((each, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: see above
    <Fragment key={at}>{children(each, at)}</Fragment>
  ));
}
