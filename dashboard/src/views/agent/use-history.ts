import { useApi } from '../../api/queries';

export const HISTORY_PATH = '/api/v1/agents/{agent_id}/history-summary';

export const historyParams = (agent: string) => ({ path: { agent_id: agent } });

/** Reads what the agent has done, and reads it again when executions of the agent end. */
export const useHistory = (agent: string) =>
  useApi(HISTORY_PATH, historyParams(agent), {
    live: (event) =>
      (event.event_type === 'execution_succeeded' || event.event_type === 'execution_failed') && event.agent === agent,
    everyMs: 5_000,
  });
