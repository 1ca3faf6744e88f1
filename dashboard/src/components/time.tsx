import type { ReactNode } from 'react';

import { durationText, relativeText, timeText, utcText } from '../formats';
import { useNow } from './use-now';

/** A time of the API: local, with UTC on hover. */
export function Time({ at }: { at: string }): ReactNode {
  const time = new Date(at);
  return (
    <time dateTime={at} title={utcText(time)} className="whitespace-nowrap">
      {timeText(time)}
    </time>
  );
}

/** "12 s ago", with the exact time on hover. */
export function Ago({ at }: { at: string }): ReactNode {
  const time = new Date(at);
  return (
    <time dateTime={at} title={`${timeText(time)} (${utcText(time)})`} className="whitespace-nowrap">
      {relativeText(time, useNow())}
    </time>
  );
}

/** The time from `from` until `to` of the API. Without an end, it grows. */
export function Duration({ from, to }: { from: string; to?: string | null }): ReactNode {
  const now = useNow();
  const end = to == null ? now : new Date(to).getTime();
  return <span className="whitespace-nowrap tabular-nums">{durationText(end - new Date(from).getTime())}</span>;
}
