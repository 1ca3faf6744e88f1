import type { JsonObject } from '../../common/json.js';
import { DUPLICATE, MISSED, MISSING, OVERLAPS } from '../schedules/schedule.js';
import { durationSchema } from './duration-keys.js';
import { nameSchema } from './name-schema.js';

/** The most of `at`, `except` and `tags`. */
const MOST_ITEMS = 1_000;
const LONGEST_TEXT = 200;

const shortText: JsonObject = { type: 'string', minLength: 1, maxLength: LONGEST_TEXT };

const TIME_FORMS = '2026-12-24, 2026-12-24T18:00 or 2026-12-24T18:00Z';

const timeSchema = (description: string): JsonObject => ({
  description,
  ...shortText,
  errorMessage: `must be a time such as ${TIME_FORMS}`,
});

const texts = (description: string): JsonObject => ({
  description,
  type: 'array',
  minItems: 1,
  maxItems: MOST_ITEMS,
  uniqueItems: true,
  items: shortText,
  errorMessage: 'must be a list of one or more texts, such as [one, two]',
});

const publishesSchema: JsonObject = {
  description: 'The artifact of each tick',
  type: 'object',
  additionalProperties: false,
  required: ['type'],
  objectMessage: 'must be an object such as { type: ReportDue }',
  properties: {
    type: nameSchema,
    payload: {
      description:
        'The payload, or a CEL expression over scheduled_for that makes it; default: an object with scheduled_for',
      type: ['object', 'string'],
      minLength: 1,
      maxLength: 10_000,
      errorMessage: 'must be an object, or a text with a CEL expression in quotes',
    },
    tags: texts('Further tags of the artifact'),
    partition_key: { description: 'The partition key of the artifact', ...shortText },
  },
};

export const scheduleSchema: JsonObject = {
  description: 'Publishes an artifact at each of its times',
  type: 'object',
  additionalProperties: false,
  required: ['publishes'],
  objectMessage: 'must be an object with publishes and one of cron, every and at',
  properties: {
    description: { type: 'string', maxLength: 1_000 },
    cron: {
      description: 'Cron expression of five fields, or of six with seconds first, in local time',
      ...shortText,
      errorMessage: 'must be a text with a cron expression such as "0 9 * * MON-FRI"',
    },
    every: {
      ...durationSchema('Ticks at this distance, counted from `from`, or from 1970-01-01T00:00Z'),
      errorMessage: 'must be a duration of at least 1s, such as 30s, 90m, 12h or 7d',
    },
    at: {
      description: 'One time, or a list of them; local unless it has an offset',
      oneOf: [shortText, { type: 'array', minItems: 1, maxItems: MOST_ITEMS, items: shortText }],
      errorMessage: `must be a time such as ${TIME_FORMS}, or a list of them`,
    },
    time_zone: {
      description: 'Time zone of local times: a name of the IANA database such as Europe/Berlin',
      ...shortText,
      errorMessage: 'must be a name of the IANA database such as Europe/Berlin, or an offset such as +02:00',
      default: 'UTC',
    },
    publishes: publishesSchema,
    jitter: durationSchema(
      'Publishes each tick up to this much later, but not later than the next one, which spreads the load',
      '0s',
    ),
    from: timeSchema('No tick before this time'),
    until: timeSchema('No tick after this time, or after this day'),
    except: texts('No tick on these dates, or at times that match these cron expressions'),
    overlap: {
      description: 'What a tick does while the work of an earlier tick is active',
      enum: [...OVERLAPS],
      default: 'allow',
    },
    missed: {
      description: 'What happens to ticks that no process could publish in time',
      enum: [...MISSED],
      default: 'run_all',
    },
    catch_up: durationSchema('Ticks that are older than this are skipped', '1d'),
    dst: {
      description: 'What a change of the clocks does to a local time',
      type: 'object',
      additionalProperties: false,
      objectMessage: 'must be an object such as { missing: skip, duplicate: last }',
      properties: {
        missing: {
          description: 'A local time that does not exist moves by the length of the gap, or has no tick',
          enum: [...MISSING],
          default: 'shift',
        },
        duplicate: {
          description:
            'Which occurrence of a local time that exists twice has a tick; default: first, and both if the hour of the cron expression begins with *',
          enum: [...DUPLICATE],
        },
      },
    },
  },
};
