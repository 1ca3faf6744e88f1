import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';

import { builtProgram } from '../support/built-program.js';
import { databaseOf, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { Program } from '../support/programs.js';
import { answers, Receiver } from '../support/receiver.js';
import { requestIn } from '../support/remote-agent.js';
import { Service } from '../support/service.js';

const EXAMPLE = resolve(import.meta.dirname, '../../examples/remote-agents');
const SECRET = 'whsec_plJ3nmyCDGBKInavdOK15jsl';

const FORGETFUL = (url: string): string => `
  forgetful:
    consumes: [{ types: [Question] }]
    engine: { kind: http, url: "${url}" }
    timeout: 8s
    retry: { attempts: 2, delay: 1ms }
`;

const hasPython = spawnSync('python3', ['--version']).status === 0;
if (!hasPython) console.warn('there is no python3 here: the remote agent in Python is not tried');

interface Execution {
  id: string;
  state: string;
  attempt: number;
  lost_leases: number;
  attempts: { error_type: string | null }[];
}

// Runs the example's configuration and agents and the built program, all as processes; the database, HTTP and SIGKILL.
// Nothing is faked.
describe('remote agents', () => {
  let folder: string;
  let database: TestDatabase;
  let service: Service;
  let forgetful: Receiver;
  let invoicer: Program | undefined;
  let archive: Program;
  /** A proxy between the archive and the service, whose port changes; while closed, it forwards nothing. */
  let gate: Server;
  let isOpen = true;

  const start = (): Promise<Service> =>
    Service.start(
      [
        '--config',
        join(folder, 'starling.yaml'),
        '--database-url',
        database.url,
        '--lease',
        '2s',
        '--log-level',
        'warn',
      ],
      {
        AGENT_SECRET: SECRET,
        INVOICER_URL: invoicer?.url ?? 'http://127.0.0.1:9/',
        ARCHIVE_URL: archive.url,
      },
    );

  beforeAll(async () => {
    await builtProgram();
    folder = await mkdtemp(join(tmpdir(), 'starling-remote-'));
    gate = createServer((request, response) => {
      if (!isOpen) return void response.destroy();
      void text(request)
        .then((body) =>
          fetch(service.url + request.url!, { method: 'POST', headers: { 'content-type': 'application/json' }, body }),
        )
        .then(async (answer) => void response.writeHead(answer.status).end(await answer.text()))
        .catch(() => response.destroy());
    });
    await new Promise<void>((listening) => gate.listen(0, '127.0.0.1', listening));
    const env = { AGENT_SECRET: SECRET, PORT: '0' };
    const gateUrl = `http://127.0.0.1:${(gate.address() as AddressInfo).port}`;
    archive = await Program.start(process.execPath, [join(EXAMPLE, 'archive.mjs')], {
      ...env,
      STARLING_URL: gateUrl,
      TAKES_MS: '0',
    });
    if (hasPython) invoicer = await Program.start('python3', [join(EXAMPLE, 'invoicer.py')], env);
    forgetful = await Receiver.start();
    await writeFile(
      join(folder, 'starling.yaml'),
      (await readFile(join(EXAMPLE, 'starling.yaml'), 'utf8')) + FORGETFUL(forgetful.url('/')),
    );
    database = await databaseOf(folder);
    service = await start();
  }, 200_000);

  afterAll(async () => {
    await Promise.all([service?.kill(), invoicer?.kill(), archive?.kill()]);
    await forgetful?.close();
    gate?.closeAllConnections();
    await new Promise((closed) => gate.close(closed));
    await database?.drop();
    await rm(folder, { recursive: true, force: true });
  });

  const publish = async (type: string, payload: object): Promise<string> => {
    const response = await fetch(`${service.url}/api/v1/artifacts`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ type, payload }),
    });
    expect(response.status).toBe(200);
    return response.headers.get('x-correlation-id')!;
  };

  const executionOf = async (correlation: string, agent: string): Promise<Execution> => {
    const { items } = await service.get<{ items: Execution[] }>(
      `/api/v1/executions?correlation_id=${correlation}&agent=${agent}`,
    );
    return service.get<Execution>(`/api/v1/executions/${items[0]!.id}`);
  };

  const isLeft = async (correlation: string): Promise<boolean> => {
    const rows = await database.rows<object>(
      `select id from executions where correlation_id = '${correlation}' and state = 'running' and lease_owner is null`,
    );
    return rows.length === 1;
  };

  const produced = async (
    correlation: string,
  ): Promise<{ type: string; payload: Record<string, unknown>; tags: string[] }[]> => {
    await eventually(
      'the correlation has settled',
      async () =>
        (await service.get<{ state: string }>(`/api/v1/correlations/${correlation}/status`)).state === 'completed',
    );
    const { items } = await service.get<{
      items: { type: string; payload: Record<string, unknown>; tags: string[]; produced_by: string }[];
    }>(`/api/v1/artifacts?correlation_id=${correlation}`);
    return items
      .filter(({ produced_by }) => produced_by !== 'external')
      .map(({ type, payload, tags }) => ({ type, payload, tags }));
  };

  (hasPython ? it : it.skip)(
    'in Python and in Node run in one cascade, one with an immediate answer and one with a later one',
    async () => {
      const [invoice, archived, ...more] = await produced(await publish('Order', { number: 'A-17', net: 100 }));
      expect([invoice, more]).toEqual([
        { type: 'Invoice', payload: { number: 'A-17', gross: 119 }, tags: ['taxed'] },
        [],
      ]);
      expect(archived).toMatchObject({
        type: 'Archived',
        payload: { number: 'A-17', sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
      });
    },
  );

  it('answer only clients that know the secret', async () => {
    const now = String(Math.floor(Date.now() / 1_000));
    const signed = { 'webhook-id': 'x', 'webhook-timestamp': now, 'webhook-signature': 'v1,AAAA' };
    for (const agent of [archive, ...(invoicer ? [invoicer] : [])]) {
      for (const headers of [{}, signed, { ...signed, 'webhook-timestamp': 'soon' }]) {
        expect(
          (await fetch(agent.url, { method: 'POST', headers: headers as Record<string, string>, body: '{}' })).status,
        ).toBe(401);
      }
    }
  });

  it('return their outputs to a service that was killed while it waited for them', async () => {
    isOpen = false;
    const correlation = await publish('Invoice', { number: 'A-18', gross: 119 });
    await eventually('the archive has taken it', () => isLeft(correlation));
    await service.kill('SIGKILL');
    service = await start();
    const { id } = await executionOf(correlation, 'archive');
    isOpen = true;
    expect(await produced(correlation)).toMatchObject([{ type: 'Archived', payload: { number: 'A-18' } }]);
    expect(await executionOf(correlation, 'archive')).toMatchObject({ state: 'completed', attempt: 1, lost_leases: 0 });
    await eventually('the archive knows', () => archive.said.includes(`${id}: 200`));
  });

  it('that lose an accepted attempt are asked again after the timeout, whichever process was killed meanwhile', async () => {
    forgetful.on('/', answers(202, { location: '/nowhere' }));
    const correlation = await publish('Question', {});
    await eventually('the agent has taken it', () => isLeft(correlation));
    forgetful.on('/', answers(204));
    await service.kill('SIGKILL');
    service = await start();
    await produced(correlation);
    // A restart that took it over would have repeated the first attempt.
    expect(forgetful.received.map((request) => requestIn(request).attempt)).toEqual([1, 2]);
    expect((await executionOf(correlation, 'forgetful')).attempts.map(({ error_type }) => error_type)).toEqual([
      'timeout',
      null,
    ]);
  });
});
