import type { Rows } from '../support/database.js';

interface Row {
  name: string;
  options: string;
  created_at: number;
}

/** Checks that each tick of each schedule was published once, and that its artifact was too. */
export async function tickBreaches(rows: Rows, acknowledged: ReadonlySet<string>): Promise<string[]> {
  const schedules = await rows<Row>(
    `select name, options, created_at from schedules s join schedule_versions v on v.schedule = s.name and v.version = s.version`,
  );
  const ticks = await rows<{ schedule: string; at: number; state: string; artifacts: number }>(
    `select schedule, scheduled_for as at, state, (select count(*) from artifacts a where a.id = artifact_id) as artifacts from schedule_ticks`,
  );
  const byName = Map.groupBy(ticks, ({ schedule }) => schedule);
  const published = await rows<{ count: number }>(
    `select count(*) as count from artifacts where produced_by = 'schedule'`,
  );
  return [
    ...[...acknowledged]
      .filter((name) => !schedules.some((row) => row.name === name))
      .map((name) => `schedule ${name} was acknowledged and is lost`),
    ...schedules.flatMap((row) => differences(row, byName.get(row.name)?.map(({ at }) => at) ?? [])),
    ...ticks
      .filter(({ state, artifacts }) => state !== 'published' || artifacts !== 1)
      .map(({ schedule, at, state, artifacts }) => `tick ${at} of ${schedule} is ${state} with ${artifacts} artifacts`),
    ...(published[0]!.count === ticks.length
      ? []
      : [`${published[0]!.count} artifacts of ${ticks.length} ticks were published`]),
  ];
}

function differences({ name, options, created_at: created }: Row, times: readonly number[]): string[] {
  const { every, until } = JSON.parse(options) as { every: string; until: string };
  const step = Number.parseInt(every, 10) * 1_000;
  const due: number[] = [];
  for (let at = (Math.floor(created / step) + 1) * step; at <= Date.parse(until); at += step) due.push(at);
  const missing = due.filter((at) => !times.includes(at));
  const surplus = times.filter((at, index) => !due.includes(at) || times.indexOf(at) !== index);
  return [
    ...missing.map((at) => `tick ${at} of ${name} was not published`),
    ...surplus.map((at) => `tick ${at} of ${name} was published, and was not due`),
  ];
}
