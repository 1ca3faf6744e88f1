// Shadow replays over HTTP, against real receivers: HTTP servers as webhooks and remote agents, an external worker, a
// tool server as a process, modules, and a model server that speaks the wire format of OpenAI-compatible servers.
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

import type { NamedFile } from '../../src/config/setting-types.js';
import { Agent } from '../../src/engines/provider/agent.decorator.js';
import type { ExperimentRowBody } from '../../src/features/experiments/dto/experiment-rows.js';
import type { ReplayBody } from '../../src/features/replays/dto/replay-body.js';
import { ConfigurationFolder } from '../support/configuration-folder.js';
import { eventually } from '../support/eventually.js';
import { type ModelAnswer, type ModelRequest, ModelServer } from '../support/model-server.js';
import { answers, Receiver } from '../support/receiver.js';
import { replies } from '../support/remote-agent.js';
import { Board } from './board.js';
import { Experiments, meansOf } from './experiment-board.js';
import { operate } from './operations.js';
import { Outside } from './outside.js';
import { SERVER } from './replica-boards.js';

const sdk = (module: string): string => resolve('node_modules/@modelcontextprotocol/sdk/dist/esm', module);

/** A tool server that records what it is asked. */
const TOOLS = `
import { appendFileSync } from 'node:fs';
import { Server } from '${sdk('server/index.js')}';
import { StdioServerTransport } from '${sdk('server/stdio.js')}';
import { CallToolRequestSchema, ListToolsRequestSchema } from '${sdk('types.js')}';
const server = new Server({ name: 'tools', version: '1.0.0' }, { capabilities: { tools: {} } });
server.setRequestHandler(ListToolsRequestSchema, () => {
  appendFileSync('tools-asked', 'list\\n');
  return { tools: [{ name: 'lookup', inputSchema: { type: 'object' } }] };
});
server.setRequestHandler(CallToolRequestSchema, () => {
  appendFileSync('tools-asked', 'call\\n');
  return { content: [{ type: 'text', text: 'FOUND' }] };
});
await server.connect(new StdioServerTransport());
`;

const module = (name: string): string => `
export default async ([{ payload }]) => {
  globalThis.calls_${name} = (globalThis.calls_${name} ?? 0) + 1;
  return { of: payload.queue };
};`;
const callsOf = (name: string): number => (globalThis as unknown as Record<string, number>)[`calls_${name}`] ?? 0;

@Agent({ name: 'printer', consumes: [{ types: ['Route'] }], publishes: [{ type: 'Print' }] })
class Printer {
  static calls = 0;

  execute(): object {
    Printer.calls += 1;
    return { printed: true };
  }
}

const config = (models: ModelServer, receiver: Receiver, sendPath: string): string => `
types:
  Ticket: {}
  Class: { schema: { type: object, required: [queue], properties: { queue: { type: string } } } }
  Help: { schema: { type: object, required: [text], properties: { text: { type: string } } } }
  Verdict: { schema: { type: object, required: [score], properties: { score: { type: number } } } }
  Estimate: { schema: { type: object, required: [score], properties: { score: { type: number } } } }
agents:
  fetcher:
    consumes: [{ types: [Ticket] }]
    publishes: [{ type: Customer }]
    engine: { kind: http, url: '${receiver.url('/fetch')}' }
  classifier:
    consumes: [{ types: [Ticket] }]
    publishes: [{ type: Class }]
    engine: { kind: llm, model: local/small, base_url: '${models.url}', instructions: Classify. }
  router:
    consumes: [{ types: [Class] }]
    publishes: [{ type: Route, tags: [routed] }]
    engine: { kind: expression, expression: '{"queue": payload.queue, "n": [1, 2]}' }
  sender:
    consumes: [{ types: [Route] }]
    publishes: [{ type: Sent }]
    engine: { kind: http, url: '${receiver.url(sendPath)}' }
  follower:
    consumes: [{ types: [Sent] }]
    publishes: [{ type: Done }]
    engine: { kind: expression, expression: '{"done": payload.id}' }
  refuser:
    consumes: [{ types: [Route] }]
    engine: { kind: http, url: '${receiver.url('/refuse')}' }
    retry: { attempts: 2, delay: 1ms }
  person:
    consumes: [{ types: [Route] }]
    publishes: [{ type: Approval }]
    engine: { kind: external, assignee: ann, due: { after: 48h, then: fail } }
  noter:
    consumes: [{ types: [Route] }]
    publishes: [{ type: Note }]
    engine: { kind: function, module: ./noter.mjs }
  scorer:
    consumes: [{ types: [Route] }]
    publishes: [{ type: Score }]
    engine: { kind: function, module: ./scorer.mjs, pure: true }
  helper:
    consumes: [{ types: [Route] }]
    publishes: [{ type: Help }]
    engine:
      kind: llm
      model: local/small
      base_url: '${models.url}'
      instructions: Help.
      tools: [{ mcp: { command: '${process.execPath}', args: [tools.mjs] }, allow: [lookup] }]
  watcher:
    consumes: [{ types: [WorkflowError] }]
    publishes: [{ type: Seen }]
    engine: { kind: expression, expression: '{"failed": payload.failed_agent}' }
  alarm:
    consumes: [{ types: [WorkflowError] }]
    publishes: [{ type: Alarmed }]
    engine: { kind: http, url: '${receiver.url('/alarm')}' }
  assessor:
    consumes: [{ types: [Case] }]
    publishes: [{ type: Verdict }]
    engine: { kind: llm, model: local/small, base_url: '${models.url}', instructions: Assess. }
  estimator:
    consumes: [{ types: [Damage] }]
    publishes: [{ type: Estimate }]
    engine: { kind: llm, model: local/small, base_url: '${models.url}', instructions: Assess. }
  registrar:
    consumes: [{ types: [Estimate] }]
    publishes: [{ type: Registered }]
    engine: { kind: external }
  reporter:
    consumes: [{ types: [Estimate] }]
    publishes: [{ type: Report }]
    cancel_on: { types: [Registered], key: payload.score }
    engine: { kind: expression, expression: '{"score": payload.score}' }
  desk:
    consumes: [{ types: [Form] }]
    publishes: [{ type: Stamp }]
    engine: { kind: external }
`;

interface Listed {
  id: string;
  round: number;
  agent: string;
  replay: string;
  state: string;
  attempt: number;
  attempts?: { round: number; attempt: number; error_type: string | null }[];
  error_type: string | null;
  error_message: string | null;
}

/** Has other engines for these agents: other options, and effects where there were none. */
const candidate = (models: ModelServer, receiver: Receiver): string => `
agents:
  classifier:
    consumes: [{ types: [Ticket] }]
    publishes: [{ type: Class }]
    engine: { kind: llm, model: local/small, base_url: '${models.url}', instructions: Sort. }
  sender:
    consumes: [{ types: [Route] }]
    publishes: [{ type: Sent }]
    engine: { kind: http, url: '${receiver.url('/send-candidate')}' }
  noter:
    consumes: [{ types: [Route] }]
    publishes: [{ type: Note }]
    engine: { kind: function, module: ./noter-candidate.mjs }
  scorer:
    consumes: [{ types: [Route] }]
    publishes: [{ type: Score }]
    engine: { kind: http, url: '${receiver.url('/score-candidate')}' }
  helper:
    consumes: [{ types: [Route] }]
    publishes: [{ type: Help }]
    engine:
      kind: llm
      model: local/small
      base_url: '${models.url}'
      instructions: Help well.
      tools: [{ mcp: { command: '${process.execPath}', args: [tools.mjs] }, allow: [lookup] }]
`;

const EFFECTS = {
  sender: 'it is an http agent',
  refuser: 'it is an http agent',
  person: 'it is an external agent',
  noter: 'its function is not declared pure',
  helper: 'its model has tools',
  printer: 'it is a class',
};

describe('a shadow replay', () => {
  let folder: ConfigurationFolder;
  let models: ModelServer;
  let receiver: Receiver;
  let board: Board;
  let queue: string;

  const answerOf = ({ text }: ModelRequest): ModelAnswer => {
    if (text.includes('Classify.') || text.includes('Sort.')) return { text: JSON.stringify({ queue }) };
    if (text.includes('Assess.')) return { text: '{"score": 0.5}' };
    if (text.includes('Guess.')) return { text: '{"queue": "unknown"}' };
    return text.includes('FOUND') ? { text: '{"text": "Look there."}' } : { tool: 'lookup', input: {} };
  };
  const start = async ({
    sendPath = '/send',
    role = { api: true, worker: true },
    replayConfigs = [] as NamedFile[],
  } = {}): Promise<void> => {
    board = await Board.start(config(models, receiver, sendPath), {
      folder: folder.path,
      agents: [Printer],
      role,
      settings: { webhookUrl: receiver.url('/all'), outboundAllow: ['127.0.0.1/32'], replayConfigs },
    });
  };
  const startWithCandidate = async (): Promise<void> => {
    await board.close();
    folder.write('noter-candidate.mjs', module('noter'));
    const file = folder.write('candidate.yaml', candidate(models, receiver));
    await start({ replayConfigs: [{ name: 'candidate', file }] });
  };

  beforeEach(async () => {
    folder = new ConfigurationFolder();
    folder.write('tools.mjs', TOOLS);
    for (const name of ['noter', 'scorer']) folder.write(`${name}.mjs`, module(name));
    queue = 'cards';
    models = await ModelServer.start(answerOf);
    receiver = await Receiver.start();
    receiver.on('/fetch', replies({ customer: 'Ann' }));
    receiver.on('/send', replies({ id: 'mail-1' }));
    receiver.on('/refuse', answers(500));
    receiver.on('/alarm', replies({ rang: true }));
    await start();
    await original();
  });
  afterEach(async () => {
    await board?.close();
    await board?.app.database.drop();
    await models?.close();
    await receiver?.close();
    folder?.remove();
  });

  const deliveriesOf = async (correlation_id: string): Promise<{ state: string }[]> => {
    const list = await board.http.get('/api/v1/webhooks/deliveries').query({ correlation_id, limit: 100 }).expect(200);
    return (list.body as { items: { state: string }[] }).items;
  };
  const delivered = (correlation: string): Promise<void> =>
    eventually(`all webhooks of ${correlation} have come`, async () => {
      const deliveries = await deliveriesOf(correlation);
      return deliveries.length > 0 && deliveries.every(({ state }) => state === 'delivered');
    });
  /** A ticket with a webhook of its client, and all that follows from it. */
  const original = async (): Promise<void> => {
    await board.http
      .post('/api/v1/artifacts')
      .set('X-Correlation-ID', 'ticket-1')
      .send({ type: 'Ticket', payload: { text: 'When?' }, webhook: { url: receiver.url('/client') } })
      .expect(200);
    const outside = new Outside(board.http);
    const held = await outside.claim({ agents: ['person'], assignee: 'ann', wait: 60 });
    await outside.send(held[0]!, 'complete', { outputs: [{ type: 'Approval', payload: { ok: true } }] });
    await board.ended('ticket-1');
    await delivered('ticket-1');
  };
  const totalOfExecutions = async (): Promise<number> => {
    const { text } = await board.http.get('/metrics').expect(200);
    return Number(/^blackboard_executions_total (\d+)$/m.exec(text)![1]);
  };
  const endsOf = async (agent: string): Promise<number> => {
    const { body } = await board.http.get('/api/v1/activity').query({ agent }).expect(200);
    return (body as { total: { ends: number } }).total.ends;
  };
  /** Everything that has arrived at the receivers, except the model server. */
  const arrived = (): object => ({
    requests: receiver.received.map(({ path }) => path),
    tools: existsSync(join(folder.path, 'tools-asked')) && readFileSync(join(folder.path, 'tools-asked'), 'utf8'),
    notes: callsOf('noter'),
    prints: Printer.calls,
  });
  const begin = async (body: object = {}, id = 'ticket-1'): Promise<string> => {
    const answer = await board.http.post(`/api/v1/correlations/${id}/replay`).send({ mode: 'shadow', ...body });
    expect([answer.status, answer.body]).toEqual([200, answer.body]);
    return (answer.body as ReplayBody).correlation_id;
  };
  /** A form that nothing has answered. The process that stays answers requests, and runs nothing. */
  const unansweredForm = async (): Promise<void> => {
    await board.publish('Form', { text: 'Sign here.' }, { correlation: 'form-1' });
    await board.http.post('/api/v1/correlations/form-1/cancel').expect(200);
    await board.close();
    await start({ role: SERVER });
  };
  const replay = async (body?: object, id?: string): Promise<string> => {
    const correlation = await begin(body, id);
    await board.ended(correlation);
    return correlation;
  };
  const executions = async (correlation_id: string): Promise<Listed[]> => {
    const { body } = await board.http.get('/api/v1/executions').query({ correlation_id, limit: 100 }).expect(200);
    return (body as { items: Listed[] }).items;
  };
  const ran = async (id: string): Promise<string[]> =>
    (await executions(id)).map(({ agent, replay }) => `${agent} ${replay}`).sort();
  const executionOf = async (agent: string, id: string): Promise<Listed> => {
    const found = (await executions(id)).find((execution) => execution.agent === agent)!;
    return (await board.http.get(`/api/v1/executions/${found.id}`).expect(200)).body as Listed;
  };
  const contents = async (id: string): Promise<string[]> =>
    (await board.artifacts(id))
      .filter(({ type }) => type !== 'WorkflowError')
      .map(({ type, payload, produced_by, tags }) => JSON.stringify({ type, payload, produced_by, tags }))
      .sort();

  test('asks models again, and takes the answers to equal inputs from the record, without any effect outside', async () => {
    const before = arrived();
    const [sent, classified] = [await endsOf('sender'), await endsOf('classifier')];
    const total = await totalOfExecutions();
    models.requests.length = 0;
    const id = await replay();
    expect(await board.status(id)).toMatchObject({ origin: 'ticket-1', replay_mode: 'shadow', state: 'completed' });
    expect(models.requests).toHaveLength(1);
    expect(arrived()).toEqual(before);
    expect(await deliveriesOf(id)).toEqual([]);
    expect(await contents(id)).toEqual(await contents('ticket-1'));
    expect(await ran(id)).toEqual([
      'alarm recorded',
      'classifier run',
      'fetcher recorded',
      'follower run',
      'helper recorded',
      'noter recorded',
      'person recorded',
      'printer recorded',
      'refuser recorded',
      'router run',
      'scorer run',
      'sender recorded',
      'watcher run',
    ]);
    await eventually('the metrics have what the replay used', async () => {
      const { text } = await board.http.get('/metrics').expect(200);
      return (
        /^starling_model_tokens_total\{agent="classifier",origin="replay",.*\} [1-9]/m.test(text) &&
        /^starling_execution_duration_seconds_count\{agent="classifier",origin="replay",.*\} 1$/m.test(text)
      );
    });
    // The sender has done nothing.
    expect([await endsOf('sender'), await endsOf('classifier')]).toEqual([sent, classified + 1]);
    expect(await totalOfExecutions()).toBe(total + (await executions(id)).length);
    // A failure of the record is the failure of the replay, with its attempts.
    const failures = await Promise.all(['ticket-1', id].map((correlation) => executionOf('refuser', correlation)));
    const shown = failures.map(({ state, attempt, error_type, error_message, attempts }) => ({
      failure: { state, attempt, error_type, error_message },
      attempts: attempts!.map((each) => [each.attempt, each.error_type]),
    }));
    expect(shown[1]).toEqual(shown[0]);
    expect(shown[1]!.failure).toMatchObject({ state: 'failed', attempt: 2, error_type: 'http' });
    const again = await board.http.post(`/api/v1/executions/${failures[1]!.id}/retry`);
    expect([again.status, (again.body as { detail: string }).detail]).toEqual([
      409,
      `Execution ${failures[1]!.id} cannot be retried: its shadow replay took its failure from the record`,
    ]);
    const trace = await board.http.get(`/api/v1/correlations/${id}/trace`).expect(200);
    expect(trace.body).toMatchObject({
      replay_mode: 'shadow',
      executions: expect.arrayContaining([
        expect.objectContaining({ agent: 'refuser', replay: 'recorded' }),
        expect.objectContaining({ agent: 'classifier', replay: 'run' }),
      ]) as unknown,
    });
    const ofOriginal = await board.http.get('/api/v1/correlations/ticket-1/trace').expect(200);
    expect(ofOriginal.body).not.toHaveProperty('replay_mode');
    // A replay of the replay finds its answers there.
    expect(await ran(await replay({}, id))).toEqual(await ran(id));
    expect(arrived()).toEqual(before);
  });

  test('ends the branches that other answers of a model lead to where an agent must not run, and says why', async () => {
    const before = arrived();
    queue = 'loans';
    const id = await replay();
    expect(arrived()).toEqual(before);
    expect(await deliveriesOf(id)).toEqual([]);
    expect(await ran(id)).toEqual([
      'classifier run',
      'fetcher recorded',
      ...['helper', 'noter', 'person', 'printer', 'refuser'].map((agent) => `${agent} unanswered`),
      'router run',
      'scorer run',
      'sender unanswered',
    ]);
    expect(callsOf('scorer')).toBeGreaterThan(0);
    expect((await board.artifacts(id, { type: 'Score' })).map(({ payload }) => payload)).toEqual([{ of: 'loans' }]);
    const reasons = Object.fromEntries(
      Object.entries(EFFECTS).map(([agent, effect]) => [
        agent,
        `${agent} does not run in a shadow replay, because ${effect}, and the original ticket-1 has no answer of it to equal inputs`,
      ]),
    );
    const failed = (await executions(id)).filter(({ state }) => state === 'failed');
    expect(Object.fromEntries(failed.map(({ agent, error_message }) => [agent, error_message]))).toEqual(reasons);
    expect(failed.every(({ error_type }) => error_type === 'shadow')).toBe(true);
    // The errors are there, but the watcher of errors does not react to them.
    const errors = (await board.artifacts(id, { type: 'WorkflowError' })).map(({ payload }) => payload);
    expect(errors.map(({ failed_agent, error_type }) => [failed_agent, error_type]).sort()).toEqual(
      Object.keys(EFFECTS)
        .map((agent) => [agent, 'shadow'])
        .sort(),
    );
    expect(await board.artifacts(id, { type: 'Seen' })).toEqual([]);
    expect(await board.status(id)).toMatchObject({ state: 'completed', error_count: errors.length });
    const [route] = await board.artifacts(id, { type: 'Route' });
    const explained = await board.http.get(`/api/v1/artifacts/${route!.id}/explain`).expect(200);
    const trace = await board.http.get(`/api/v1/correlations/${id}/trace`).expect(200);
    for (const reason of Object.values(reasons)) {
      expect(JSON.stringify(explained.body)).toContain(reason);
      expect(JSON.stringify(trace.body)).toContain(reason);
    }
    const sender = failed.find(({ agent }) => agent === 'sender')!;
    const retried = await board.http.post(`/api/v1/executions/${sender.id}/retry`);
    expect([retried.status, retried.body]).toMatchObject([
      409,
      { detail: `Execution ${sender.id} cannot be retried: its shadow replay does not run sender` },
    ]);
  });

  test('has overrides; an agent that must not run has none', async () => {
    const before = arrived();
    const asked = models.requests.length;
    const id = await replay({ overrides: { classifier: { instructions: 'Sort.' } } });
    expect(models.requests.slice(asked).map(({ text }) => text.includes('Sort.'))).toEqual([true]);
    expect((await executionOf('sender', id)).replay).toBe('recorded');
    const other = await replay({ overrides: { router: { expression: '{"queue": "other", "n": [1, 2]}' } } });
    expect((await executionOf('router', other)).replay).toBe('run');
    expect((await executionOf('sender', other)).replay).toBe('unanswered');
    expect(arrived()).toEqual(before);
    const refused = await board.http
      .post('/api/v1/correlations/ticket-1/replay')
      .send({ mode: 'shadow', overrides: { helper: { temperature: 0 } } });
    expect([refused.status, refused.body]).toMatchObject([
      400,
      {
        detail:
          'overrides.helper: a shadow replay does not run helper, because its model has tools; replay with another mode',
      },
    ]);
  });

  test('with another configuration calls nothing outside that its file has, and asks its models', async () => {
    await startWithCandidate();
    const before = arrived();
    const asked = models.requests.length;
    const id = await replay({ configuration: 'candidate' });
    expect(await deliveriesOf(id)).toEqual([]);
    expect(arrived()).toEqual(before);
    expect(models.requests.slice(asked).map(({ text }) => text.includes('Sort.'))).toEqual([true]);
    expect(await ran(id)).toEqual([
      'alarm recorded',
      'classifier run',
      'fetcher recorded',
      'helper unanswered',
      'noter unanswered',
      'person recorded',
      'printer recorded',
      'refuser recorded',
      'router run',
      'scorer unanswered',
      'sender unanswered',
      'watcher run',
    ]);
    expect((await executionOf('scorer', id)).error_message).toBe(
      'scorer does not run in a shadow replay, because it is an http agent, and its definition has changed since the original ticket-1 ran',
    );
    expect(await new Outside(board.http).claim({ agents: ['person', 'desk'], assignee: 'ann' })).toEqual([]);
  });

  test.each([
    ['correlations', { correlations: ['ticket-1'] }],
    ['artifacts', { artifacts: { type: 'Ticket' } }],
  ])('as a trial of an experiment on %s calls nothing outside, with any kind of variant', async (_, data) => {
    await startWithCandidate();
    const before = arrived();
    const asked = models.requests.length;
    const experiments = new Experiments(board.http);
    const done = await experiments.run({
      data,
      mode: 'shadow',
      expected: { recorded: true },
      output: 'Sent',
      variants: [
        { name: 'now' },
        { name: 'guess', overrides: { classifier: { instructions: 'Guess.' } } },
        { name: 'candidate', configuration: 'candidate' },
        { name: 'both', configuration: 'candidate', overrides: { classifier: { instructions: 'Guess.' } } },
      ],
      scorers: [
        { name: 'same', kind: 'equals' },
        { name: 'judged', kind: 'judge', agent: 'assessor' },
      ],
    });
    expect(done).toMatchObject({ state: 'completed', ended_trials: 4, failed_trials: 3 });
    const [{ trials }] = (await experiments.rows(done.experiment_id)) as [ExperimentRowBody];
    const unsent = expect.stringMatching(/^no agent published an artifact of the type Sent: /) as string;
    expect(trials.map(({ output, error }) => output ?? error)).toEqual(['{"id":"mail-1"}', unsent, unsent, unsent]);
    const why = await Promise.all(
      trials.slice(1).map(async ({ correlation_id }) => (await executionOf('sender', correlation_id)).error_message),
    );
    const changed = 'its definition has changed since the original ticket-1 ran';
    expect(why).toEqual(
      ['the original ticket-1 has no answer of it to equal inputs', changed, changed].map(
        (reason) => `sender does not run in a shadow replay, because it is an http agent, and ${reason}`,
      ),
    );
    expect(meansOf(done, 'same')).toEqual([1, 0, 0, 0]);
    expect(meansOf(done, 'judged')).toEqual([0.5, null, null, null]);
    // One question of each trial, and one of the judge.
    const texts = models.requests.slice(asked).map(({ text }) => /Classify\.|Guess\.|Sort\.|Assess\./.exec(text)?.[0]);
    expect(texts.sort()).toEqual(['Assess.', 'Classify.', 'Guess.', 'Guess.', 'Sort.']);
    for (const { correlation_id } of trials) {
      expect(await deliveriesOf(correlation_id)).toEqual([]);
      expect((await board.status(correlation_id)).state).toBe('completed');
    }
    expect(await new Outside(board.http).claim({ agents: ['person', 'desk'], assignee: 'ann' })).toEqual([]);
    expect(arrived()).toEqual(before);
  });

  test('takes a failure from the record with the attempts of all its rounds', async () => {
    const { id: refuser } = await executionOf('refuser', 'ticket-1');
    await board.http.post(`/api/v1/executions/${refuser}/retry`).expect(200);
    await board.ended('ticket-1');
    await delivered('ticket-1');
    const before = arrived();
    const id = await replay();
    const [original, again] = [await executionOf('refuser', 'ticket-1'), await executionOf('refuser', id)];
    const rounds = ({ round, attempt, attempts }: Listed) => ({
      last: [round, attempt],
      attempts: attempts!.map((each) => [each.round, each.attempt]),
    });
    expect(rounds(again)).toEqual(rounds(original));
    expect(rounds(again).last).toEqual([1, 2]);
    const routes = await board.artifacts(id, { type: 'Route', embed_meta: true });
    expect(routes[0]).toMatchObject({ consumed_by: expect.arrayContaining(['refuser', 'sender']) as unknown });
    expect(arrived()).toEqual(before);
  });

  test('cancels by an output that it takes from the record after it began, and explain says so', async () => {
    await board.http.post('/api/v1/agents/reporter/pause').expect(200);
    await board.publish('Damage', { text: 'A scratch.' }, { correlation: 'damage-1' });
    const outside = new Outside(board.http);
    const [held] = await outside.claim({ agents: ['registrar'], wait: 60 });
    await outside.send(held!, 'complete', { outputs: [{ type: 'Registered', payload: { score: 0.5 } }] });
    await board.ended('damage-1');
    const id = await replay({}, 'damage-1');
    expect(await ran(id)).toEqual(['estimator run', 'registrar recorded', 'reporter run']);
    const [registered] = await board.artifacts(id, { type: 'Registered' });
    expect(await executionOf('reporter', id)).toMatchObject({ state: 'cancelled', cancelled_by: registered!.id });
    const { body } = await board.http.get(`/api/v1/artifacts/${registered!.id}/explain`).expect(200);
    expect((body as { cancels: object[] }).cancels).toMatchObject([{ agent: 'reporter', verdict: 'cancels' }]);
  });

  test('does not take the answers of an agent that has changed since', async () => {
    await board.close();
    await start({ sendPath: '/send-elsewhere' });
    const before = arrived();
    const sender = await executionOf('sender', await replay());
    expect(sender).toMatchObject({
      replay: 'unanswered',
      state: 'failed',
      error_message:
        'sender does not run in a shadow replay, because it is an http agent, and its definition has changed since the original ticket-1 ran',
    });
    expect(arrived()).toEqual(before);
  });

  test('of one artifact, and one of a run, are shadows too', async () => {
    const before = arrived();
    const [ticket] = await board.artifacts('ticket-1', { type: 'Ticket' });
    const answer = await board.http.post(`/api/v1/artifacts/${ticket!.id}/replay`).send({ mode: 'shadow' }).expect(200);
    const { correlation_id } = answer.body as ReplayBody;
    await board.ended(correlation_id);
    expect(await contents(correlation_id)).toEqual(await contents('ticket-1'));
    expect(arrived()).toEqual(before);

    const run = await board.http
      .post('/run/flock')
      .send({ agent_name: 'fetcher', inputs: { text: 'Where?' } })
      .expect(200);
    const { run_id } = run.body as { run_id: string };
    await board.ended(run_id);
    await delivered(run_id);
    const afterRun = arrived();
    const again = await replay({}, run_id);
    expect(await ran(again)).toEqual(['fetcher recorded']);
    expect(arrived()).toEqual(afterRun);
  });

  test('lets no client claim its work, also while no process answers it', async () => {
    await unansweredForm();
    const id = await begin({}, 'form-1');
    expect(await executions(id)).toMatchObject([{ agent: 'desk', state: 'pending', replay: 'unanswered' }]);
    const outside = new Outside(board.http);
    expect(await outside.claim({ agents: ['desk'] })).toEqual([]);
    const [{ id: execution }] = (await executions(id)) as [Listed];
    const claimed = await board.http.post(`/api/v1/executions/${execution}/claim`).send({ claimed_by: 'ann' });
    expect(claimed.status).toBe(409);
    const [form] = await board.artifacts(id, { type: 'Form' });
    const explained = await board.http.get(`/api/v1/artifacts/${form!.id}/explain`).expect(200);
    expect(JSON.stringify(explained.body)).toContain('waits for an answer from the record');
    await board.close();
    await start();
    await board.ended(id);
    expect(await executions(id)).toMatchObject([{ agent: 'desk', state: 'failed', error_type: 'shadow' }]);
  });

  test('waits, is shown and can be ended while no process has an agent of it', async () => {
    await unansweredForm();
    const id = await begin({}, 'form-1');
    await board.close();
    board = await Board.start(config(models, receiver, '/send').replace(/^ {2}desk:\n(?: {4}.*\n)+/m, ''), {
      folder: folder.path,
      agents: [Printer],
      settings: { outboundAllow: ['127.0.0.1/32'] },
    });
    const lacking = async (): Promise<Listed[]> => {
      const query = { without_agent: true, correlation_id: id };
      return ((await board.http.get('/api/v1/executions').query(query).expect(200)).body as { items: Listed[] }).items;
    };
    await eventually('its execution is shown', async () => (await lacking()).length === 1);
    expect(await lacking()).toMatchObject([{ agent: 'desk', state: 'pending', replay: 'unanswered' }]);
    expect(await board.status(id)).toMatchObject({ state: 'active', waiting_for_agents: ['desk'] });
    expect(await operate(board.http, 'fail', { agent: 'desk' })).toMatchObject({ state: 'completed', done: 1 });
    await board.ended(id);
    expect(await executionOf('desk', id)).toMatchObject({ state: 'failed', error_type: 'agent_removed' });
  });

  test.each([
    [
      'its model has tools',
      (models: ModelServer) =>
        `{ kind: llm, model: local/small, base_url: '${models.url}', instructions: Classify., tools: [{ mcp: { command: '${process.execPath}', args: [tools.mjs] }, allow: [lookup] }] }`,
    ],
    ['it is an external agent', () => '{ kind: external }'],
  ])('runs no agent whose configuration has changed since it was queued: %s', async (effect, engine) => {
    await board.close();
    await start({ role: SERVER });
    const id = await begin();
    expect(await executions(id)).toEqual(
      expect.arrayContaining([expect.objectContaining({ agent: 'classifier', state: 'pending', replay: 'run' })]),
    );
    await board.close();
    const before = arrived();
    const asked = models.requests.length;
    board = await Board.start(
      config(models, receiver, '/send').replace(
        `{ kind: llm, model: local/small, base_url: '${models.url}', instructions: Classify. }`,
        engine(models),
      ),
      { folder: folder.path, agents: [Printer], settings: { webhookUrl: receiver.url('/all') } },
    );
    // No client has to ask for the work of an agent that is external now.
    await board.ended(id);
    if (effect.includes('external'))
      expect(await new Outside(board.http).claim({ agents: ['classifier'], max: 5 })).toEqual([]);
    expect(await executionOf('classifier', id)).toMatchObject({
      replay: 'unanswered',
      state: 'failed',
      error_type: 'shadow',
      error_message: `classifier does not run in a shadow replay, because ${effect}, and its definition has changed since the original ticket-1 ran`,
    });
    expect(arrived()).toEqual(before);
    expect(models.requests).toHaveLength(asked);
  });
});
