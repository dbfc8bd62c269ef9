/** Lanes that are computed, and the slack of slices, as far as the address wants them. */
import { useLayoutEffect, useMemo } from "react";
import {
  DERIVED_KINDS,
  type DerivedKind,
  type DerivedMeta,
  type StepChoice,
  stepChoice,
  useDerivedLanes,
} from "../../api";
import { timelineTexts } from "../../i18n";
import { useAddress, useTrace } from "../../state";
import {
  DerivedSource,
  derivedTracks,
  LaneTiles,
  type RankTiles,
  type Track,
  withDerived,
} from "../../timeline";
import { params } from "./params";

export interface DerivedState {
  /** Of all ranks, with those that are computed. */
  readonly tracks: readonly Track[];
  /** What is shown of each kind; of the first rank that has it. */
  readonly shown: readonly { readonly of: DerivedKind; readonly about: DerivedMeta }[];
  /** Why what is wanted of a rank is not shown. */
  readonly refused: readonly {
    readonly worker: string;
    readonly id: string;
    readonly text: string;
  }[];
  /** How the steps are found that it is about. */
  readonly how: StepChoice;
  readonly isLoading: boolean;
  /** How long the longest step takes, ns; 0 until it is known. */
  readonly longestStep: number;
}

export function useDerived(sources: readonly RankTiles[]): DerivedState {
  const { sel } = useTrace();
  const [wanted] = useAddress(params.derived);
  const [slack] = useAddress(params.slack);
  const { steps, step_pattern } = sel ?? {};
  const how = useMemo(() => stepChoice(steps, step_pattern), [steps, step_pattern]);
  const kinds = DERIVED_KINDS.filter(
    (kind) => wanted.includes(kind) || (kind === "path" && slack !== null),
  );
  const keys = useMemo(() => sources.map(({ key }) => key), [sources]);
  const answers = useDerivedLanes(keys, how, kinds);
  const found = kinds.flatMap((of, kind) =>
    sources.map((source, at) => ({ of, source, answer: answers[kind * sources.length + at] })),
  );
  const metas = found.map(({ of, source, answer }) => ({
    of,
    source,
    about: answer?.data ?? null,
  }));
  const aboutOf = (of: DerivedKind, source: RankTiles) =>
    metas.find((each) => each.of === of && each.source === source)?.about ?? null;
  // What has come: an answer never changes.
  const state = `${wanted} ${slack !== null} ${metas.map(({ about }) => about !== null)}`;

  // Before the picture of these tracks is drawn. Like the ranks, they are no business of a render that is thrown away.
  // biome-ignore lint/correctness/useExhaustiveDependencies: `state` says what has come
  useLayoutEffect(() => {
    for (const source of sources) {
      for (const of of DERIVED_KINDS)
        source
          .source(DerivedSource)
          .show(of, wanted.includes(of) ? aboutOf(of, source) : null, how);
      source.source(LaneTiles).slack = aboutOf("path", source)?.has_slack ? how : null;
    }
  }, [sources, how, state]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: as above
  const tracks = useMemo(
    () =>
      sources.flatMap((source) =>
        withDerived(
          source.tracks,
          wanted.flatMap((of) => {
            const about = aboutOf(of, source);
            return about
              ? derivedTracks(source.worker, source.meta, of, about, timelineTexts.derived)
              : [];
          }),
        ),
      ),
    [sources, how, state],
  );
  return {
    tracks,
    how,
    shown: wanted.flatMap((of) => {
      const about = metas.find((each) => each.of === of && each.about?.refused === null)?.about;
      return about ? [{ of, about }] : [];
    }),
    refused: found.flatMap(({ source, answer }) => {
      const why = answer?.data?.refused;
      if (why) return [{ worker: source.worker, id: why.id, text: why.text }];
      return answer?.error ? [{ worker: source.worker, id: "", text: answer.error.message }] : [];
    }),
    isLoading: answers.some(({ isPending }) => isPending),
    longestStep: Math.max(0, ...metas.map(({ about }) => about?.longest_step_ns ?? 0)),
  };
}
