import type { LimitBody, LimitListBody, LimitValuesBody } from '../../../features/limits/dto/limit-body.js';
import { numberOf } from '../argument-values.js';
import { ClientError } from '../client-errors.js';
import { type ClientOptions, connectionOf } from '../connection.js';
import { idIn } from '../look-up.js';
import type { Output } from '../printing/output.js';
import type { Column } from '../printing/table.js';
import { count } from '../printing/texts.js';

const PATH = '/api/v1/limits/{id}';

/** The value that removes a bound. */
const NONE = 'none';

/** Prints the limits of a server. */
export async function listLimits(options: ClientOptions): Promise<void> {
  const { server, output } = connectionOf(options);
  const { items } = await server.get<LimitListBody>('/api/v1/limits');
  if (!output.isForPeople) return output.jsonLines(items);
  await output.table(items, COLUMNS);
  if (items.length === 0) output.hint('the server has no limits');
}

interface SetOptions extends ClientOptions {
  concurrency?: string;
  rate?: string;
  burst?: string;
}

/** Changes those values that are given, and prints the limit. Throws a ClientError if none is given. */
export async function setLimit(name: string, options: SetOptions): Promise<void> {
  const { concurrency, rate, burst } = options;
  if (concurrency === undefined && rate === undefined && burst === undefined)
    throw new ClientError('give --concurrency, --rate or --burst');
  const { server, output } = connectionOf(options);
  const path = idIn(PATH, name);
  const now = await server.get<LimitBody>(path);
  const changed: Partial<LimitValuesBody> = {
    concurrency: numberIn('--concurrency', concurrency, now.concurrency),
    rate: rate === undefined ? now.rate : rate === NONE ? null : rate,
    // Without a rate, there is nothing that a burst could belong to.
    burst: rate === NONE ? null : numberIn('--burst', burst, now.burst),
  };
  const given = Object.fromEntries(Object.entries(changed).filter(([, value]) => value !== null));
  await print(output, await server.put<LimitBody>(path, given));
}

/** Gives a limit the values of the file again, and prints it. */
export async function resetLimit(name: string, options: ClientOptions): Promise<void> {
  const { server, output } = connectionOf(options);
  await print(output, await server.delete<LimitBody>(idIn(PATH, name)));
}

function numberIn(option: string, given: string | undefined, now: number | null): number | null {
  if (given === undefined) return now;
  return given === NONE ? null : numberOf(option, given);
}

const print = (output: Output, limit: LimitBody): Promise<void> =>
  output.thing(limit, () => [
    ['limit', limit.name],
    ['concurrency', limit.concurrency ?? NONE],
    ['rate', limit.rate ?? NONE],
    ['burst', limit.burst],
    ['in the file', limit.set_at === null ? null : limit.file === null ? NONE : valuesText(limit.file)],
    ['running', limit.running],
    ['waiting', limit.waiting],
  ]);

const valuesText = ({ concurrency, rate, burst }: LimitValuesBody): string =>
  [`concurrency ${concurrency ?? NONE}`, `rate ${rate ?? NONE}`, ...(burst === null ? [] : [`burst ${burst}`])].join(
    ', ',
  );

const COLUMNS: Column<LimitBody>[] = [
  { title: 'LIMIT', of: ({ name }) => name, style: () => 'bold' },
  { title: 'CONCURRENCY', of: ({ concurrency }) => (concurrency === null ? NONE : count(concurrency)) },
  { title: 'RATE', of: ({ rate }) => rate ?? NONE },
  { title: 'RUNNING', of: ({ running }) => count(running) },
  { title: 'WAITING', of: ({ waiting }) => count(waiting) },
  { title: 'LONGEST', of: ({ longest }) => (longest ? `${longest.agent} ${longest.queued_at}` : '') },
  { title: 'FROM', of: ({ set_at }) => (set_at === null ? 'file' : 'API') },
];
