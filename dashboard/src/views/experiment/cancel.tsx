import { useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';

import { answered, api } from '../../api/client';
import { Confirm } from '../../components/dialog';
import { Icon } from '../../components/icon';
import { useQuestion } from '../../components/use-question';
import { countText } from '../../formats';
import { type Experiment, EXPERIMENT_PATH } from './experiment';

const PATH = `${EXPERIMENT_PATH}/cancel` as const;

/** Cancels an experiment that runs, after a question that says how much does not end. */
export function Cancel({ experiment }: { experiment: Experiment }): ReactNode {
  const { experiment_id, total_trials: total, ended_trials: ended } = experiment;
  const client = useQueryClient();
  const question = useQuestion({
    run: () => answered(api.POST(PATH, { params: { path: { experiment_id } } })),
    done: 'The experiment is cancelled',
    onDone: () => client.invalidateQueries(),
  });
  return (
    <>
      <button type="button" className="button" onClick={question.ask}>
        <Icon name="slash" />
        Cancel
      </button>
      <Confirm title="Cancel this experiment?" action="Cancel the experiment" {...question.confirm}>
        {countText(total - ended, 'trial')} will not end. The summary is that of the rows that have ended.
      </Confirm>
    </>
  );
}
