import type { ReactNode } from 'react';

import { answered, api } from '../../api/client';
import { Confirm } from '../../components/dialog';
import { Icon } from '../../components/icon';
import { useQuestion } from '../../components/use-question';
import type { Schedule } from './schedule-text';

interface ChangeProps {
  schedule: Schedule;
  done: () => Promise<void>;
}

export function PauseButton({ schedule: { name, paused_at }, done }: ChangeProps): ReactNode {
  const isPaused = paused_at !== null;
  const params = { path: { schedule_name: name } };
  const question = useQuestion({
    run: () =>
      answered(
        isPaused
          ? api.POST('/api/v1/schedules/{schedule_name}/resume', { params })
          : api.POST('/api/v1/schedules/{schedule_name}/pause', { params }),
      ),
    done: `${name} is ${isPaused ? 'resumed' : 'paused'}`,
    onDone: done,
  });
  const verb = isPaused ? 'Resume' : 'Pause';
  return (
    <>
      <button type="button" className="button" onClick={question.ask}>
        <Icon name={isPaused ? 'execution' : 'bars'} />
        {verb}
      </button>
      <Confirm title={`${verb} ${name}?`} action={`${verb} the schedule`} {...question.confirm}>
        {isPaused
          ? 'It ticks from now on. A backfill publishes the ticks of the pause.'
          : 'It has no ticks until it is resumed, also after a restart. They are not made up for.'}
      </Confirm>
    </>
  );
}

export function TriggerButton({ schedule: { name }, done }: ChangeProps): ReactNode {
  const question = useQuestion({
    run: () =>
      answered(api.POST('/api/v1/schedules/{schedule_name}/trigger', { params: { path: { schedule_name: name } } })),
    done: `${name} has published a tick`,
    onDone: done,
  });
  return (
    <>
      <button type="button" className="button" onClick={question.ask}>
        <Icon name="publish" />
        Trigger
      </button>
      <Confirm title={`Trigger ${name}?`} action="Publish 1 tick" {...question.confirm}>
        It publishes a tick of this moment, also if earlier work of the schedule still runs.
      </Confirm>
    </>
  );
}
