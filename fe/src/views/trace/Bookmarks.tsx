import { useCallback } from "react";
import { momentIn, type TimeWindow } from "../../draw";
import { duration } from "../../format";
import { traceTexts as text } from "../../i18n";
import { useAddress } from "../../state";
import { Button, Link, Popup } from "../../ui";
import { formatTimes } from "./look";
import { params } from "./params";

export interface BookmarksState {
  readonly windows: readonly TimeWindow[];
  readonly add: (window: TimeWindow) => void;
  readonly remove: (at: number) => void;
}

export function useBookmarks(): BookmarksState {
  const [windows, set] = useAddress(params.bookmarks);
  const add = useCallback(
    (window: TimeWindow) => {
      if (windows.some((each) => formatTimes(each) === formatTimes(window))) return;
      set([...windows, window]);
    },
    [windows, set],
  );
  const remove = useCallback(
    (at: number) => set(windows.filter((_, each) => each !== at)),
    [windows, set],
  );
  return { windows, add, remove };
}

interface Props {
  readonly bookmarks: BookmarksState;
  readonly current: () => TimeWindow;
  readonly onGo: (window: TimeWindow) => void;
}

export function Bookmarks({ bookmarks: { windows, add, remove }, current, onGo }: Props) {
  return (
    <Popup label={text.bookmarks(windows.length)}>
      {(close) => (
        <div className="trace-menu">
          {windows.map((window, at) => (
            <div key={formatTimes(window)} className="trace-bookmark">
              <Link
                className="num"
                onClick={() => {
                  onGo(window);
                  close();
                }}
              >
                {text.bookmark(
                  momentIn(window.start, { start: 0, end: window.end }, 1e4),
                  duration(window.end - window.start),
                )}
              </Link>
              <Button quiet aria-label={text.removeBookmark(at + 1)} onClick={() => remove(at)}>
                ×
              </Button>
            </div>
          ))}
          <Button onClick={() => add(current())}>{text.addBookmark}</Button>
        </div>
      )}
    </Popup>
  );
}
