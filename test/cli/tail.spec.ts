// Follows what the built server publishes with `starling tail`, also across a kill and a restart of the server.
import { join } from 'node:path';

import { builtProgram } from '../support/built-program.js';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/free-port.js';
import { Service } from '../support/service.js';
import { Folder } from './run-program.js';
import { StartedProgram } from './started-program.js';

const CONFIG = `
agents:
  echo: { consumes: [{ types: [Order] }], publishes: [{ type: Echo }], engine: { kind: expression, expression: "{ 'note': payload.note }" } }
`;

const folder = new Folder();
let args: string[];
let service: Service;
const started: StartedProgram[] = [];

beforeAll(async () => {
  await builtProgram();
  const config = folder.write('starling.yaml', CONFIG);
  // No other program gets this port while the service restarts.
  const port = String(await freePort());
  args = ['--config', config, '--database-url', `sqlite:${join(folder.path, 'a.db')}`, '--port', port];
  service = await Service.start(args);
});
afterAll(async () => {
  for (const { process } of started) process.kill('SIGKILL');
  await service?.kill();
  folder.remove();
});

/** Publishes an order, and waits for the echo. Returns the echo's id. */
async function publish(): Promise<string> {
  const answer = await fetch(`${service.url}/api/v1/artifacts/sync`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-Correlation-ID': 'orders' },
    body: JSON.stringify({ type: 'Order', payload: { note: 'one lamp' } }),
  });
  const { artifacts } = (await answer.json()) as { artifacts: { id: string }[] };
  return artifacts[0]!.id;
}

/** Starts the command, and publishes until it prints something: it prints nothing when it has connected. */
async function tail(columns: number | null, ...words: string[]): Promise<StartedProgram> {
  const env = { STARLING_URL: service.url };
  const program =
    columns === null
      ? await StartedProgram.start(['tail', ...words], env)
      : await StartedProgram.onTerminal(columns, ['tail', ...words], env);
  started.push(program);
  await eventually('the first line', async () => {
    await publish();
    return program.stdout.includes('\n');
  });
  return program;
}

const idsIn = (program: StartedProgram): string[] =>
  linesOf(program).map((line) => (JSON.parse(line) as { artifact_id: string }).artifact_id);
const linesOf = ({ stdout }: StartedProgram): string[] => stdout.replaceAll('\r', '').split('\n').slice(0, -1);

test('prints JSON lines in a pipe, filters, and skips nothing while the server is restarted', async () => {
  const program = await tail(null, '--type', 'Echo', '--produced-by', 'echo', '--correlation-id', 'orders');
  const before = await publish();
  await eventually('the line before', () => idsIn(program).includes(before));
  await service.kill();
  await eventually('it says that the server is away', () => program.stderr.includes('; retrying for up to a minute\n'));
  service = await Service.start(args);
  const after = [await publish(), await publish()];
  await eventually('the last line', () => idsIn(program).includes(after[1]!));
  expect(idsIn(program).slice(-3)).toEqual([before, ...after]);
  expect(JSON.parse(linesOf(program).at(-1)!)).toMatchObject({ event_type: 'artifact_published', produced_by: 'echo' });
  expect(program.stderr).toMatch(
    /^the server at \S+ disconnected .*\n.*retrying for up to a minute\nthe server is available again\nconnected again; nothing is skipped\n$/,
  );
  program.process.kill('SIGINT');
  expect(await program.ended).toBe(0);
});

test('prints lines that fit on a terminal, and live events too', async () => {
  const program = await tail(100, '--live');
  await publish();
  await eventually('the order, its execution and the echo', () =>
    [
      / Order {17}external {10}orders {2}/,
      / Echo {18}echo {14}orders {2}/,
      / execution started {5}echo {14}orders {2}/,
    ].every((pattern) => linesOf(program).some((line) => pattern.test(line))),
  );
  for (const line of linesOf(program)) expect(line.length).toBeLessThanOrEqual(100);
});
