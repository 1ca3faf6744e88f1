// Sends unknown fields on every route, and in every answer of agents and workers. Uses the application, its database,
// HTTP, and an HTTP server as a remote agent.
import type { OpenAPIObject } from '@nestjs/swagger';
import type { Test } from 'supertest';

import { newId } from '../../src/common/ids.js';
import { Receiver } from '../support/receiver.js';
import { replies } from '../support/remote-agent.js';
import { Board, type WireArtifact } from './board.js';
import { Outside } from './outside.js';

const ID = '019a7f5e-0c1d-7c3a-9f63-5b1d2c4e6f80';
const NOTE = { type: 'Note', payload: { text: 'a' } };

const configuration = (agents: Receiver): string => `
agents:
  remote:
    consumes: [{ types: [Question] }]
    publishes: [{ type: Reply }]
    engine: { kind: http, url: "${agents.url('/remote')}" }
    retry: { attempts: 1 }
  approver:
    consumes: [{ types: [Reading] }]
    publishes: [{ type: Approval }]
    engine: { kind: external }
  echo:
    consumes: [{ types: [Note] }]
    publishes: [{ type: Echo }]
    engine: { kind: expression, expression: '{"text": payload.text}' }
`;

describe('unknown fields', () => {
  let agents: Receiver;
  let board: Board;
  let document: OpenAPIObject;

  beforeAll(async () => {
    agents = await Receiver.start();
    board = await Board.start(configuration(agents));
    document = (await board.http.get('/openapi.json').expect(200)).body as OpenAPIObject;
  });
  afterAll(async () => {
    await board.close();
    await agents.close();
  });

  const post = (path: string, body: object): Test => board.http.post(path).send(body);
  const listed = async (correlation: string): Promise<WireArtifact[]> => board.artifacts(correlation);

  /** Lists each POST with an example of its body, if it has one. */
  function posts(): { path: string; body: object }[] {
    type Content = Record<string, { examples?: Record<string, { value: object }> }>;
    return Object.entries(document.paths).flatMap(([path, { post: operation }]) => {
      if (!operation) return [];
      const content = (operation.requestBody as { content?: Content } | undefined)?.content?.['application/json'];
      const [example] = Object.values(content?.examples ?? {});
      return [{ path: path.replace('{agent_name}', 'echo').replace(/\{\w+\}/, ID), body: example?.value ?? {} }];
    });
  }

  test('are a 400 on every route under /api/v1, including routes without a body', async () => {
    const routes = posts().filter(({ path }) => path.startsWith('/api/v1/'));
    expect(routes.length).toBeGreaterThan(10);
    for (const { path, body } of routes) {
      const answer = await post(path, { ...body, colour: 'red' });
      expect([path, answer.status, answer.body]).toEqual([
        path,
        400,
        { detail: expect.stringMatching(/^colour: is not a known field; /) as string },
      ]);
    }
  });

  test('are not checked in a body that is not an object, which is a 400 if the route takes no field', async () => {
    const answer = await post('/api/v1/agents/echo/resume', ['red']);
    expect([answer.status, answer.body]).toEqual([400, { detail: 'The body must be a JSON object, or absent' }]);
    await board.http.post('/api/v1/agents/echo/resume').expect(200);
    await post('/api/v1/agents/echo/resume', {}).expect(200);
  });

  test('are ignored on Interface A, and in a message to /mcp', async () => {
    const routes = posts().filter(({ path }) => !path.startsWith('/api/v1/'));
    expect(routes.map(({ path }) => path).sort()).toEqual([
      `/batch/${ID}/cancel`,
      `/batch/${ID}/retry-failed`,
      '/mcp',
      `/run/${ID}/cancel`,
      '/run/batch',
      '/run/flock',
    ]);
    for (const { path, body } of routes) {
      const answer = await post(path, { ...body, colour: 'red' }).set('Accept', 'application/json, text/event-stream');
      expect([path, [200, 404].includes(answer.status), JSON.stringify(answer.body).includes('colour')]).toEqual([
        path,
        true,
        false,
      ]);
    }
  });

  test.each<[string, string, object, string]>([
    [
      'a misspelled visibility',
      '/api/v1/artifacts',
      { ...NOTE, visiblity: { kind: 'Private', agents: [] } },
      'visiblity: is not a known field; did you mean visibility?',
    ],
    [
      'a misspelled visibility of a synchronous publish',
      '/api/v1/artifacts/sync',
      { ...NOTE, visibilty: { kind: 'Public' } },
      'visibilty: is not a known field; did you mean visibility?',
    ],
    [
      'a field of the synchronous publish',
      '/api/v1/artifacts',
      { ...NOTE, timeout: 3 },
      'timeout: is not a known field; known here: type, tags, partition_key, deadline, webhook, payload, visibility',
    ],
    [
      'several',
      '/api/v1/artifacts',
      { type: 7, tag: [], payloads: {} },
      'payloads: is not a known field; did you mean payload?; tag: is not a known field; did you mean tags?; type: must be a string',
    ],
    [
      'a filter',
      '/api/v1/artifacts/sync',
      { ...NOTE, filters: { type_name: ['Echo'] } },
      'filters.type_name: is not a known field; did you mean type_names?',
    ],
    [
      'a field of a webhook',
      '/api/v1/artifacts',
      { ...NOTE, webhook: { url: 'https://hooks.example.com/', secrets: 'x' } },
      'webhook.secrets: is not a known field; did you mean secret?',
    ],
    [
      'a field of a visibility',
      '/api/v1/artifacts',
      { ...NOTE, visibility: { kind: 'Private', agent: ['echo'] } },
      'visibility: agent is not a known field of Private; did you mean agents?',
    ],
    [
      'a field of another kind',
      '/api/v1/artifacts',
      { ...NOTE, visibility: { kind: 'Public', agents: ['echo'] } },
      'visibility: agents is not a known field of Public; known here: kind',
    ],
    [
      'a field beside a ttl',
      '/api/v1/artifacts',
      { ...NOTE, visibility: { kind: 'After', ttl: 'PT1H', than: { kind: 'Public' } } },
      'visibility: than is not a known field of After; did you mean then?',
    ],
    [
      'a field of the later visibility',
      '/api/v1/artifacts',
      { ...NOTE, visibility: { kind: 'After', ttl: 'PT1H', then: { kind: 'Labelled', required_label: ['a'] } } },
      'visibility: then.required_label is not a known field of Labelled; did you mean required_labels?',
    ],
    [
      'a field of an input',
      '/api/v1/agents/echo/run',
      { inputs: [NOTE, { ...NOTE, tags: ['a'] }] },
      'inputs: [1].tags is not a known field; known here: type, payload',
    ],
    [
      'a name that objects have anyway',
      '/api/v1/artifacts',
      { ...NOTE, hasOwnProperty: 1 },
      expect.stringMatching(/^hasOwnProperty: is not a known field; /) as string,
    ],
    [
      'a constructor',
      '/api/v1/artifacts',
      { ...NOTE, constructor: 'x' },
      expect.stringMatching(/^constructor: is not a known field; /) as string,
    ],
    [
      'such a name in a nested object',
      '/api/v1/artifacts/sync',
      { ...NOTE, filters: { hasOwnProperty: 1, toString: 2 } },
      expect.stringMatching(/^filters\.hasOwnProperty: is not .*; filters\.toString: is not /) as string,
    ],
    [
      'a text for a number',
      '/api/v1/artifacts/sync',
      { ...NOTE, timeout: '3' },
      expect.stringMatching(/^timeout: must be a number/) as string,
    ],
    [
      'a text for a boolean',
      `/api/v1/executions/${ID}/fail`,
      { lease_token: 'x', error_message: 'y', final: 'true' },
      'final: must be a boolean value',
    ],
    [
      'a misspelled output',
      `/api/v1/executions/${ID}/complete`,
      { lease_token: 'x', ouput: {} },
      expect.stringMatching(/^ouput: is not a known field; did you mean output\?; /) as string,
    ],
  ])('%s', async (_what, path, body, detail) => {
    const correlation = newId();
    const answer = await board.http.post(path).set('X-Correlation-ID', correlation).send(body);
    expect([answer.status, answer.body]).toEqual([400, { detail }]);
    expect(await listed(correlation)).toEqual([]);
  });

  test('are listed up to ten, shortened, and the others are counted', async () => {
    const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`${index}${'x'.repeat(150)}`, 1]));
    const { status, body } = await post('/api/v1/artifacts', { ...NOTE, ...many });
    const { detail } = body as { detail: string };
    expect([
      status,
      detail.match(/is not a known field/g)?.length,
      detail.includes('(4990 more fields are unknown)'),
    ]).toEqual([400, 10, true]);
    expect(detail.length).toBeLessThan(3_000);
  });

  test('of a payload, of inputs and of an answer that is a payload are data', async () => {
    const odd = { visiblity: { kind: 'Private' }, constructor: 'x', hasOwnProperty: 1, payload: { type: 'Note' } };
    const note = await board.publish('Note', { text: 'b', ...odd });
    expect((await listed(note))[0]!.payload).toEqual({ text: 'b', ...odd });
    const run = await post('/api/v1/agents/echo/run', { inputs: [{ type: 'Note', payload: { text: 'c', ...odd } }] });
    expect([run.status, run.body]).toMatchObject([200, { artifacts: [{ payload: { text: 'c' } }] }]);
    agents.on('/remote', replies({ outputs: ['a list of its own'], ...odd }));
    const { artifacts } = await board.publishSync('Question', {});
    expect(artifacts.map(({ type, payload }) => [type, payload])).toEqual([
      ['Reply', { outputs: ['a list of its own'], ...odd }],
    ]);
  });

  describe('in the answer of a remote agent fail the attempt', () => {
    const REPLY = { type: 'Reply', payload: { text: 'a' } };

    test.each<[string, object, string]>([
      [
        'in an output',
        { outputs: [{ ...REPLY, visiblity: { kind: 'Private', agents: [] } }] },
        'outputs[0].visiblity: is not a known field; did you mean visibility?',
      ],
      [
        'in its visibility',
        { outputs: [{ ...REPLY, visibility: { kind: 'Private', agent: [] } }] },
        'outputs[0].visibility: agent is not a known field of Private; did you mean agents?',
      ],
      [
        'a tenant that is missing',
        { outputs: [{ ...REPLY, visibility: { kind: 'Tenant' } }] },
        'outputs[0].visibility: tenant_id must be null (all agents) or 1 to 255 characters of text, without NUL',
      ],
      [
        'beside the outputs',
        { outputs: [REPLY], usage: { tokens: 7 } },
        'usage: is not a known field; known here: outputs',
      ],
    ])('%s', async (_where, answer, message) => {
      agents.on('/remote', replies(answer));
      const { artifacts } = await board.publishSync('Question', {});
      expect(artifacts.map(({ type, payload }) => [type, payload.error_message])).toEqual([['WorkflowError', message]]);
    });
  });

  test("in a worker's completion are a 400, which keeps the lease", async () => {
    const outside = new Outside(board.http);
    const correlation = await board.publish('Reading', { total: 1 });
    const held = await outside.claimOne({ agents: ['approver'] });
    const output = { type: 'Approval', payload: { approved: true } };
    const refused = await outside.send(held, 'complete', { outputs: [{ ...output, tag: ['x'] }] });
    expect(refused).toEqual({
      status: 400,
      body: { detail: 'outputs[0].tag: is not a known field; did you mean tags?' },
    });
    expect((await outside.send(held, 'complete', { outputs: [output] })).status).toBe(200);
    expect(await board.types(correlation)).toEqual(['Reading', 'Approval']);
  });

  test('are excluded by the OpenAPI document if they are a 400', () => {
    type Schema = { additionalProperties?: unknown; oneOf?: { $ref: string }[] };
    const schemas = document.components!.schemas as Record<string, Schema>;
    const isClosed = (name: string): boolean => {
      const { additionalProperties, oneOf } = schemas[name]!;
      if (oneOf) return oneOf.every(({ $ref }) => isClosed($ref.split('/').at(-1)!));
      return additionalProperties === false;
    };
    const closed = [
      'PublishRequest',
      'SyncPublishRequest',
      'ProducedFilters',
      'WebhookRequest',
      'RunAgentRequest',
      'AgentInput',
      'ClaimRequestBody',
      'ClaimOneRequest',
      'LeaseRequest',
      'CompleteRequest',
      'OutputBody',
      'FailRequest',
      'RetryAllRequest',
      'FailAllRequest',
    ];
    expect(closed.filter((name) => !isClosed(name))).toEqual([]);
    expect(['RunRequest', 'BatchRequest', 'JsonRpcMessage'].filter(isClosed)).toEqual([]);
  });
});
