/** Slices by their names: how many there are, and from one to the next. */

import type { KeyboardEvent } from "react";
import { count } from "../../format";
import { traceTexts as text } from "../../i18n";
import { Button } from "../../ui";
import { useSearch } from "./search";
import { useModel } from "./useTraceModel";

export function SearchField() {
  const { pick } = useModel();
  const search = useSearch();
  const { hits, error } = search;
  const go = (by: -1 | 1) => void search.go(by).then((hit) => hit && pick(hit));
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || event.nativeEvent.isComposing) return;
    event.preventDefault();
    go(event.shiftKey ? -1 : 1);
  };
  const said =
    hits === null
      ? ""
      : search.position === null
        ? text.hits(count(hits.count), count(hits.names))
        : text.hitOf(count(search.position), count(hits.count));
  return (
    <div className="trace-search">
      <input
        type="search"
        className="trace-field"
        aria-label={text.search}
        placeholder={text.search}
        aria-invalid={error !== null}
        autoComplete="off"
        spellCheck={false}
        value={search.text}
        onChange={(event) => search.setText(event.target.value)}
        onKeyDown={onKeyDown}
      />
      <Button
        icon
        aria-label={text.regex}
        title={text.regex}
        aria-pressed={search.regex}
        onClick={() => search.setRegex(!search.regex)}
      >
        .*
      </Button>
      {search.text !== "" && (
        <>
          <Button
            icon
            aria-label={text.previousHit}
            title={`${text.previousHit} (Shift Enter)`}
            disabled={!hits?.count}
            onClick={() => go(-1)}
          >
            ‹
          </Button>
          <Button
            icon
            aria-label={text.nextHit}
            title={`${text.nextHit} (Enter)`}
            disabled={!hits?.count}
            onClick={() => go(1)}
          >
            ›
          </Button>
          <span role="status" className={error ? "trace-wrong" : "muted num"}>
            {error ? error.message : said}
          </span>
        </>
      )}
    </div>
  );
}
