import type { ReactNode } from 'react';

import type { Schemas } from '../../api/requests';
import { Ago } from '../../components/time';
import { listText } from '../../formats';

export type Schedule = Schemas['ScheduleBody'];

/** "paused", "active", or "ended" if it has no further tick. */
export const stateOf = ({ paused_at, next }: Schedule): string => {
  if (paused_at !== null) return 'paused';
  return next === undefined ? 'ended' : 'active';
};

/** "0 7 * * MON-FRI, Europe/Berlin", "every 90m" or "at 2026-12-31T18:00" */
export function timesText({ options }: Schedule): string {
  const { cron, every, at, time_zone: zone } = options;
  const times = [
    ...(typeof cron === 'string' ? [cron] : []),
    ...(typeof every === 'string' ? [`every ${every}`] : []),
    ...(at === undefined ? [] : [`at ${listText([at].flat().map(String))}`]),
  ];
  return [...times, ...(typeof zone === 'string' ? [zone] : [])].join(', ');
}

/** How long ago or until a tick, with its local time on hover. */
export const TickTime = ({ tick }: { tick: Schemas['TickTimeBody'] }): ReactNode => (
  <span title={tick.local}>
    <Ago at={tick.scheduled_for} />
  </span>
);
