import { type RefObject, useState } from 'react';

import type { LiveEvent } from '../live/messages';
import { useLiveEvents } from '../live/use-live';
import { usePaced } from '../live/use-paced';
import { announce } from './announcer';

const EVERY_MS = 250;

export interface NewsOptions {
  /** Whether an event means a new row that matches the filters; undefined if the event does not say. */
  isNew: (event: LiveEvent) => boolean | undefined;
  restart: () => Promise<void>;
  /** The element that contains the list. */
  within: RefObject<HTMLElement | null>;
}

export interface News {
  count: number | undefined;
  show: () => void;
}

/**
 * Keeps a list up to date that is read page by page. New rows appear by themselves at the top of a list that nothing
 * points at; otherwise a button says how many there are, because rows must not move under the pointer.
 */
export function useNews({ isNew, restart, within }: NewsOptions): News | undefined {
  const [count, setCount] = useState(0);
  const [isCounted, setIsCounted] = useState(true);
  const show = (): Promise<void> => {
    setCount(0);
    setIsCounted(true);
    return restart();
  };
  const paced = usePaced(() => (isUntouched(within.current) ? show() : setIsCounted(false)), EVERY_MS);
  useLiveEvents((events, resync) => {
    const verdicts = events.map(isNew);
    const certain = verdicts.filter((verdict) => verdict === true).length;
    const isUnsure = verdicts.includes(undefined);
    if (!resync && certain === 0 && !isUnsure) return;
    if (isUntouched(within.current)) return paced.happened(Math.max(1, certain));
    if (isUnsure || resync) setIsCounted(false);
    setCount((before) => before + certain);
    if (certain > 0) announce(`${count + certain} new`);
  });
  if (count === 0 && isCounted) return undefined;
  return { count: isCounted ? count : undefined, show: () => void show() };
}

/** Whether a list may move: nothing points at it, has the focus in it, or has scrolled it. */
export function isUntouched(element: HTMLElement | null): boolean {
  if (element === null) return false;
  const scroller = element.querySelector('[data-scroller]');
  return (scroller?.scrollTop ?? 0) === 0 && !element.matches(':hover') && !element.contains(document.activeElement);
}
