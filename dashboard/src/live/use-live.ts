import { useEffect, useRef, useSyncExternalStore } from 'react';

import type { FromConnection, LiveEvent, LiveState } from './messages';
import { joinConnection } from './tab';
import { usePaced } from './use-paced';

type Listener = (message: FromConnection) => void;

const SAY_VISIBLE_MS = 20_000;

const listeners = new Set<Listener>();
let state: LiveState = { kind: 'connecting', since: Date.now() };

/** Joins the live connection. Call it once. */
export function startLive(): void {
  const pass = (message: FromConnection): void => {
    // A hidden tab asks for nothing; it fetches everything again when it is shown.
    if (message.kind !== 'state' && document.hidden) return;
    for (const listener of listeners) listener(message);
  };
  const tab = joinConnection((message) => {
    const before = state.kind;
    if (message.kind === 'state') state = message.state;
    pass(message);
    // Live events are not repeated, and what was fetched before the stream began may already be out of date.
    if (before !== 'live' && state.kind === 'live') pass({ kind: 'resync', all: before === 'away' });
  });
  const say = (): void => tab.send({ kind: document.hidden ? 'hidden' : 'visible' });
  say();
  setInterval(() => !document.hidden && say(), SAY_VISIBLE_MS);
  document.addEventListener('visibilitychange', () => {
    say();
    pass({ kind: 'resync', all: true });
  });
  window.addEventListener('pagehide', () => tab.send({ kind: 'hidden' }));
  window.addEventListener('pageshow', say);
}

/** Returns the function that removes the listener. */
export function onLive(listener: Listener): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

export const useLiveState = (): LiveState => useSyncExternalStore(onLive, () => state);

/** Calls `handle` with the events of each quarter of a second. `resync`: events may be missing. */
export function useLiveEvents(handle: (events: LiveEvent[], resync: boolean) => void): void {
  const latest = useRef(handle);
  useEffect(() => {
    latest.current = handle;
  });
  useEffect(
    () =>
      onLive((message) => {
        if (message.kind === 'events') latest.current(message.events, false);
        if (message.kind === 'resync') latest.current([], true);
      }),
    [],
  );
}

/**
 * Calls `refresh` after events that `concerns` accepts, at most once every `everyMs`, and less often if there are many.
 * Never, if `concerns` is undefined.
 */
export function useLiveRefresh(
  refresh: () => void,
  concerns: ((event: LiveEvent) => boolean) | undefined,
  everyMs = 1_000,
): void {
  const paced = usePaced(refresh, everyMs);
  useLiveEvents((events, resync) => {
    // Everything is fetched again then.
    if (resync) return paced.done();
    const count = concerns === undefined ? 0 : events.filter(concerns).length;
    if (count > 0) paced.happened(count);
  });
}
