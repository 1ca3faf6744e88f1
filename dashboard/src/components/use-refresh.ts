import { type RefObject, useEffect, useRef, useState } from 'react';

import type { Concerns } from '../api/queries';
import { useLiveEvents, useLiveRefresh } from '../live/use-live';
import { isUntouched, type News } from './use-news';

export interface RefreshOptions {
  /** Reads the list again. */
  refresh: () => Promise<void>;
  concerns: Concerns;
  /** The element that contains the list. */
  within: RefObject<HTMLElement | null>;
  /** Returns true if a row has reached its time limit. The service sends no event for that. */
  isOverdue: () => boolean;
}

const LOOK_MS = 2_000;

/**
 * Keeps a list up to date whose rows change, come and go anywhere in it. While something points at the list, a button
 * offers to read it again, because rows must not move under the pointer.
 */
export function useRefresh({ refresh, concerns, within, isOverdue }: RefreshOptions): News | undefined {
  const [isStale, setIsStale] = useState(false);
  const show = (): void => {
    setIsStale(false);
    void refresh();
  };
  const changed = (): void => (isUntouched(within.current) ? show() : setIsStale(true));
  useLiveRefresh(changed, concerns, 2_000);
  useLiveEvents((_events, resync) => resync && changed());
  const look = useRef<() => void>(undefined);
  useEffect(() => {
    look.current = () => isOverdue() && changed();
  });
  useEffect(() => {
    const timer = setInterval(() => document.hidden || look.current?.(), LOOK_MS);
    return () => clearInterval(timer);
  }, []);
  return isStale ? { count: undefined, show } : undefined;
}
