import type { Schemas } from '../../api/requests';

export type ReplayMode = Schemas['TraceBody']['replay_mode'];

type Ended = Pick<Schemas['TracedExecutionBody'], 'state' | 'replay'>;

/**
 * Whether an execution may be retried. A shadow replay would end one whose agent did not run in the same way.
 * `replayMode`: that of its correlation.
 */
export const mayRetry = ({ state, replay }: Ended, replayMode: ReplayMode): boolean =>
  state === 'failed' && (replayMode !== 'shadow' || replay === 'run');
