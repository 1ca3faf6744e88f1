import { useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';

import { ApiError } from '../../api/client';
import { useApi } from '../../api/queries';
import { CurlButton } from '../../components/copy';
import { type Fact, Facts } from '../../components/facts';
import { JsonBlock } from '../../components/json-block';
import { SidePanel } from '../../components/side-panel';
import { StateBadge } from '../../components/state-badge';
import { Failure, LoadingRows } from '../../components/states';
import { Ago, Time } from '../../components/time';
import { Backfill } from './backfill';
import { PauseButton, TriggerButton } from './change-buttons';
import { NextTicks } from './next-ticks';
import { type Schedule, stateOf, TickTime, timesText } from './schedule-text';
import { TickList } from './tick-list';

const PATH = '/api/v1/schedules/{schedule_name}';

const EVERY_MS = 3_000;

interface SchedulePanelProps {
  name: string;
  close: () => void;
  /** The list has changed. */
  changed: () => void;
}

/** One schedule: what it did and will do, and buttons that change it. */
export function SchedulePanel({ name, close, changed }: SchedulePanelProps): ReactNode {
  const client = useQueryClient();
  const params = { path: { schedule_name: name } };
  const { data, error, refetch } = useApi(PATH, params, { pollMs: EVERY_MS });
  // The answer for another schedule is kept while this one is read.
  const schedule = data?.name === name ? data : undefined;
  const done = async (): Promise<void> => {
    changed();
    await Promise.all(
      [PATH, `${PATH}/ticks`, `${PATH}/preview`].map((path) => client.invalidateQueries({ queryKey: [path] })),
    );
  };
  const isGone = error instanceof ApiError && error.status === 404;
  const body = (): ReactNode => {
    if (schedule === undefined || isGone)
      return error ? <Failure error={error} retry={() => void refetch()} /> : <LoadingRows count={8} />;
    return (
      <>
        <Facts facts={factsOf(schedule)} />
        <div className="flex flex-wrap gap-2">
          <PauseButton schedule={schedule} done={done} />
          <TriggerButton schedule={schedule} done={done} />
          <Backfill name={name} done={done} />
          <CurlButton request={{ path: PATH, params }} />
        </div>
        <TickList name={name} />
        <NextTicks name={name} isPaused={schedule.paused_at !== null} />
        <section>
          <h3 className="pb-1 text-label text-muted">Options</h3>
          <JsonBlock label="options" value={schedule.options} />
        </section>
      </>
    );
  };
  return (
    <SidePanel title="Schedule" close={close}>
      {body()}
    </SidePanel>
  );
}

function factsOf(schedule: Schedule): Fact[] {
  const { name, source, version, paused_at, next, last, updated_at } = schedule;
  return [
    ['Name', name],
    ['State', <StateBadge state={stateOf(schedule)} />],
    ['Times', timesText(schedule)],
    ['Paused', paused_at === null ? null : <Ago at={paused_at} />],
    ['Next tick', next === undefined ? null : <TickTime tick={next} />],
    ['Last tick', last === undefined ? null : <TickTime tick={last} />],
    ['From', source === 'file' ? 'the configuration file; change it there' : 'the API'],
    ['Version', version],
    ['Since', <Time at={updated_at} />],
  ];
}
