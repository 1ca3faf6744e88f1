import type { ExperimentBody, ListedExperimentBody } from '../../../features/experiments/dto/experiment-body.js';
import { type ClientOptions, connectionOf } from '../connection.js';
import { limitOf, printList } from '../inspect/list.js';
import { idIn } from '../look-up.js';
import type { Column } from '../printing/table.js';
import { count, toTheSecond } from '../printing/texts.js';
import { programName } from '../typed-command.js';
import { headOf } from './summary-tables.js';

/** Prints the latest experiments, newest first. */
export async function listExperiments({ limit, ...options }: ClientOptions & { limit?: string }): Promise<void> {
  const { server, output } = connectionOf(options);
  await printList<ListedExperimentBody>(server, output, {
    path: '/api/v1/experiments',
    filters: {},
    limit: limitOf(limit),
    columns: COLUMNS,
    none: `no experiments yet; start one with ${programName()} experiment run`,
  });
}

/** Cancels an experiment and prints how far it was. */
export async function cancelExperiment(id: string, options: ClientOptions): Promise<void> {
  const { server, output } = connectionOf(options);
  const { body } = await server.post<ExperimentBody>(idIn('/api/v1/experiments/{id}/cancel', id), null);
  await output.thing(body, () => headOf(body));
}

const COLUMNS: Column<ListedExperimentBody>[] = [
  { title: 'EXPERIMENT', of: ({ experiment_id }) => experiment_id },
  { title: 'NAME', of: ({ name }) => name ?? null, style: () => 'bold', most: 40 },
  { title: 'STATE', of: ({ state }) => state },
  { title: 'ROWS', of: ({ rows }) => count(rows), isRight: true },
  { title: 'VARIANTS', of: ({ variants }) => variants.join(', '), most: 40 },
  { title: 'DONE', of: ({ progress_percentage }) => `${Math.floor(progress_percentage)}%`, isRight: true },
  { title: 'FAILED', of: ({ failed_trials }) => count(failed_trials), isRight: true },
  { title: 'CREATED', of: ({ created_at }) => toTheSecond(created_at) },
];
