import type { ListedExecutionBody } from '../../../features/executions/dto/execution-body.js';
import type { Style } from '../printing/table.js';

type State = ListedExecutionBody['state'];

const STYLES: Record<State, Style | null> = {
  pending: 'yellow',
  running: 'yellow',
  completed: 'green',
  failed: 'red',
  cancelled: 'dim',
};

export const styleOfState = (state: State): Style | null => STYLES[state];
