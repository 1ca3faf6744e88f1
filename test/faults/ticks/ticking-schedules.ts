import { MISSED, OVERLAPS, type ScheduleOptions } from '../../../src/catalog/schedules/schedule.js';

const DAY_MS = 86_400_000;
/** So long after its start, a schedule that queues ticks every few seconds has its last one: the queue then ends in time. */
const QUEUED_FOR_MS = 12_000;
/** Seconds between ticks. */
const STEPS = [3, 4, 5, 7];
/** Ticks at these times after the start are queued (s). Others come in the time that passes without a process. */
const AT_SECONDS = [4, 5, 7, 8, 60, 100, 101, 130, 150, 151, 190, 260];

const iso = (time: number): string => new Date(time).toISOString();

/** A schedule of each kind with each pair of rules, of which the rules for missed ticks also have one with few ticks. */
export function tickingSchedules(now: number): Record<string, ScheduleOptions> {
  const until = iso(now + DAY_MS);
  const schedules: Record<string, ScheduleOptions> = {};
  const pairs = OVERLAPS.flatMap((overlap) => MISSED.map((missed) => ({ overlap, missed })));
  for (const [index, { overlap, missed }] of pairs.entries()) {
    const step = STEPS[index % STEPS.length]!;
    const rules = {
      overlap,
      missed,
      until: overlap === 'queue' ? iso(now + QUEUED_FOR_MS) : until,
      publishes: { type: overlap === 'allow' ? 'Due' : 'Job' },
    };
    const name = `${overlap}-${missed}`;
    schedules[`cron-${name}`] = { cron: `*/${step} * * * * *`, time_zone: 'Asia/Kathmandu', ...rules };
    schedules[`every-${name}`] = { every: `${step}s`, ...rules };
    schedules[`at-${name}`] = { at: AT_SECONDS.map((second) => iso(now + second * 1_000 + index)), ...rules, until };
    // The last of several missed ticks is a minute late.
    schedules[`rare-${name}`] = {
      ...(index % 2 === 0 ? { every: '100s' } : { cron: '30 */2 * * * *' }),
      ...{ ...rules, until },
      ...(index % 3 === 0 && { catch_up: '90s' }),
    };
  }
  return schedules;
}

/** Some work takes seconds, so that later ticks overlap with it. */
export const WORK = `
const LONG_MS = 4_000;
const SHORT_MS = 100;
export default async ([{ payload }], { signal }) => {
  const second = Math.floor(Date.parse(payload.scheduled_for) / 1_000);
  await new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
    setTimeout(resolve, second % 11 < 2 ? LONG_MS : SHORT_MS);
  });
  return payload;
};`;

export const configOf = (schedules: Record<string, ScheduleOptions>): string => `
agents:
  count: { consumes: [{ types: [Due] }], publishes: [{ type: Counted }], engine: { kind: expression, expression: 'payload' }, concurrency: 50 }
  work: { consumes: [{ types: [Job] }], publishes: [{ type: Done }], engine: { kind: function, module: ./work.js }, concurrency: 200 }
schedules:
${Object.entries(schedules)
  .map(([name, options]) => `  ${name}: ${JSON.stringify(options)}`)
  .join('\n')}
`;
