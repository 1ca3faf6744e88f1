/** The refusal of a database that a build before the first release made. */
export const OF_EARLIER_BUILD =
  'an earlier build of starling or another program made the tables of this database; use an empty database, or that build';

/** The migrations of the builds before `0001-initial-schema` replaced them. */
const EARLIER = [
  '0001-core',
  '0002-runs-and-batches',
  '0003-replicas',
  '0004-webhooks',
  '0005-taking-part',
  '0006-retention',
  '0007-tracing',
  '0008-reasons',
  '0009-usage',
  '0010-failing-targets',
  '0011-external',
  '0012-assigned',
  '0013-tool-calls',
  '0014-failing-timers',
  '0015-deleted-usage',
  '0016-changed-configurations',
  '0017-budget-reservations',
  '0018-answer-pieces',
  '0019-reserved-calls',
  '0020-stored-bytes',
];

/** Statements that turn the records of this version's migrations into those of an earlier build. */
export const RECORDS_OF_EARLIER_BUILD = [
  'delete from program_versions',
  'delete from kysely_migration',
  ...EARLIER.flatMap((name) => [
    `insert into program_versions (migration, oldest_program) values ('${name}', '0.1.0')`,
    `insert into kysely_migration (name, timestamp) values ('${name}', '2026-11-22T19:00:00.000Z')`,
  ]),
];
