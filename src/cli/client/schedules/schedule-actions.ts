import type {
  BackfillBody,
  BackfilledBody,
  PreviewBody,
  ScheduleBody,
  TickBody,
  TickTimeBody,
} from '../../../features/schedules/dto/schedule-body.js';
import { type ClientOptions, connectionOf } from '../connection.js';
import { limitOf, printList } from '../inspect/list.js';
import { idIn } from '../look-up.js';
import type { Column } from '../printing/table.js';
import { countOf } from '../printing/texts.js';

const PATH = '/api/v1/schedules/{id}';

/** Prints the schedules of a server. */
export function listSchedules({ limit, ...options }: ClientOptions & { limit?: string }): Promise<void> {
  const { server, output } = connectionOf(options);
  return printList<ScheduleBody>(server, output, {
    path: '/api/v1/schedules',
    filters: {},
    limit: limitOf(limit),
    columns: COLUMNS,
    none: 'the server has no schedules',
  });
}

/** Prints the next ticks of a schedule. */
export async function previewSchedule(
  name: string,
  { count = '20', ...options }: ClientOptions & { count?: string },
): Promise<void> {
  const { server, output } = connectionOf(options);
  const path = `${idIn(PATH, name)}/preview?count=${encodeURIComponent(count)}`;
  const { ticks } = await server.get<PreviewBody>(path);
  if (!output.isForPeople) return output.jsonLines(ticks);
  await output.table(ticks, TIMES);
  if (ticks.length === 0) output.hint(`${name} has no further tick`);
}

/** Publishes the ticks of a time that are not published, or prints them only. */
export async function backfillSchedule(
  name: string,
  { from, to, dryRun = false, ...options }: ClientOptions & { from: string; to: string; dryRun?: boolean },
): Promise<void> {
  const { server, output } = connectionOf(options);
  const request = { from, to, dry_run: dryRun };
  const { ticks } = (await server.post<BackfillBody>(`${idIn(PATH, name)}/backfill`, request)).body;
  if (!output.isForPeople) return output.jsonLines(ticks);
  await output.table(ticks, BACKFILLED);
  const failed = ticks.filter(({ state }) => state === 'failed').length;
  const published = `${countOf(ticks.length - failed, 'tick')} ${dryRun ? 'would be published' : 'published'}`;
  output.hint(failed === 0 ? published : `${published}, ${failed} ${dryRun ? 'would fail' : 'failed'}`);
}

const TIMES: Column<TickTimeBody>[] = [
  { title: 'UTC', of: ({ scheduled_for }) => scheduled_for },
  { title: 'LOCAL', of: ({ local }) => local },
];

const BACKFILLED: Column<BackfilledBody>[] = [
  ...TIMES,
  { title: 'STATE', of: ({ state, reason }) => (reason === null ? state : `${state}: ${reason}`) },
];

const COLUMNS: Column<ScheduleBody>[] = [
  { title: 'SCHEDULE', of: ({ name }) => name, style: () => 'bold' },
  { title: 'STATE', of: stateOf, style: (schedule) => (stateOf(schedule) === 'active' ? 'green' : 'yellow') },
  { title: 'FROM', of: ({ source }) => source },
  { title: 'NEXT', of: ({ next }) => next?.local ?? '' },
  { title: 'LAST', of: ({ last }) => (last ? lastOf(last) : '') },
];

function stateOf({ paused_at, next }: ScheduleBody): string {
  if (paused_at !== null) return 'paused';
  return next ? 'active' : 'ended';
}

const lastOf = ({ local, state }: TickBody): string => `${local} ${state}`;
