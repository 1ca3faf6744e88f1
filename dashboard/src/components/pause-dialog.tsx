import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';

import { answered, api } from '../api/client';
import { announce } from './announcer';
import { Confirm } from './dialog';

export interface PauseDialogProps {
  /** The agent to pause, or to resume if it is paused. */
  agent: { name: string; paused: boolean } | undefined;
  onClose: () => void;
}

/** Asks before it pauses or resumes an agent. */
export function PauseDialog({ agent, onClose }: PauseDialogProps): ReactNode {
  const client = useQueryClient();
  const changing = useMutation({
    mutationFn: async ({ name, paused }: NonNullable<typeof agent>) => {
      const params = { path: { agent_name: name } };
      return answered(
        paused
          ? api.POST('/api/v1/agents/{agent_name}/resume', { params })
          : api.POST('/api/v1/agents/{agent_name}/pause', { params }),
      );
    },
    onSuccess: async ({ name, paused }) => {
      announce(`${name} is ${paused ? 'paused' : 'resumed'}`);
      await client.invalidateQueries({ queryKey: ['/api/v1/agents'] });
      close();
    },
  });
  const close = (): void => {
    changing.reset();
    onClose();
  };
  const verb = agent?.paused ? 'Resume' : 'Pause';
  return (
    <Confirm
      title={`${verb} ${agent?.name ?? ''}`}
      action={`${verb} the agent`}
      isOpen={agent !== undefined}
      onClose={close}
      onConfirm={async () => agent && changing.mutateAsync(agent).catch(() => undefined)}
      isBusy={changing.isPending}
      error={changing.error}
    >
      {agent?.paused
        ? 'The executions that wait for this agent start, on every process.'
        : 'None of its executions starts on any process until it is resumed. Running executions end as usual, and correlations that need this agent stay active.'}
    </Confirm>
  );
}
