// Replays from the record of any cascade through all kinds of engines: expressions, a module, a class, a model, a remote
// agent and external work. Uses the application, its database and HTTP; time is moved by the test. The model server
// speaks the wire format of OpenAI-compatible servers.
import fc from 'fast-check';

import { newId } from '../../src/common/ids.js';
import type { AgentArtifact } from '../../src/engines/engine.js';
import { Agent } from '../../src/engines/provider/agent.decorator.js';
import type { TraceBody } from '../../src/features/correlations/dto/trace-body.js';
import type { ReplayBody } from '../../src/features/replays/dto/replay-body.js';
import { eventually } from '../support/eventually.js';
import { ManualClock } from '../support/manual-clock.js';
import { type ModelAnswer, type ModelRequest, ModelServer } from '../support/model-server.js';
import { printedSeed } from '../support/random.js';
import { answers, type Behaviour, Receiver } from '../support/receiver.js';
import { replies, requestIn } from '../support/remote-agent.js';
import { Board, type WireArtifact } from './board.js';
import { Outside } from './outside.js';

/** The expressions that overrides of the test replace with equal ones. */
const EXPRESSIONS = {
  router: '[1, 2, 3].filter(at, at <= int(payload.n) % 4).map(at, {"n": at})',
  joiner: '{"n": payload.Said.n, "other": payload.Other.n}',
  packer: '{"notes": payload.map(note, note.n)}',
  follower: '{"n": payload.n}',
  watcher: '{"seen": artifact.type}',
};

const config = (models: ModelServer, receiver: Receiver): string => `
types:
  Other: {}
  Said: { schema: { type: object, required: [n, k], properties: { n: { type: integer }, k: { type: string } } } }
agents:
  fetcher:
    consumes: [{ types: [Item], where: 'payload.n != 0' }]
    publishes: [{ type: Fetched, tags: [remote] }]
    engine: { kind: http, url: '${receiver.url('/fetch')}' }
    retry: { attempts: 2, delay: 0s }
  follower:
    consumes: [{ types: [Fetched] }]
    publishes: [{ type: Followed }]
    engine: { kind: expression, expression: '${EXPRESSIONS.follower}' }
  speaker:
    consumes: [{ types: [Item] }]
    publishes: [{ type: Said }]
    engine: { kind: llm, model: local/small, base_url: '${models.url}', instructions: Say it. }
    retry: { attempts: 2, delay: 0s }
  router:
    consumes: [{ types: [Said] }]
    publishes: [{ type: Route }]
    engine: { kind: expression, expression: '${EXPRESSIONS.router}' }
  joiner:
    consumes: [{ types: [Said, Other], mode: all, join: { by: payload.k, within: 5s } }]
    publishes: [{ type: Pair }]
    engine: { kind: expression, expression: '${EXPRESSIONS.joiner}' }
  noter:
    consumes: [{ types: [Route] }]
    publishes: [{ type: Note }]
    engine: { kind: function, module: ./noter.mjs }
    retry: { attempts: 2, delay: 0s }
  person:
    consumes: [{ types: [Route], where: 'payload.n == 1' }]
    publishes: [{ type: Approval }]
    engine: { kind: external }
  packer:
    consumes: [{ types: [Note], batch: { size: 2, timeout: 5s } }]
    publishes: [{ type: Pack }]
    engine: { kind: expression, expression: '${EXPRESSIONS.packer}' }
  watcher:
    consumes: [{ types: [WorkflowError, Pack, Pair, Approval], mode: any }]
    publishes: [{ type: Seen }]
    engine: { kind: expression, expression: '${EXPRESSIONS.watcher}' }
`;

/** The agents that may run again because of an override of one. The `fetcher` and the `follower` are behind none. */
const BEHIND: Record<string, readonly string[]> = {
  speaker: ['router', 'joiner', 'noter', 'printer', 'person', 'packer', 'watcher'],
  router: ['noter', 'printer', 'person', 'packer', 'watcher'],
  joiner: ['watcher'],
  packer: ['watcher'],
  follower: [],
  watcher: [],
};

const SAME_OVERRIDES = {
  speaker: { instructions: 'Say it.' },
  ...Object.fromEntries(Object.entries(EXPRESSIONS).map(([agent, expression]) => [agent, { expression }])),
};

const NOTER = `
export default async ([{ payload }]) => {
  globalThis.noterCalls = (globalThis.noterCalls ?? 0) + 1;
  if (payload.n === 3) throw new Error('three is too many');
  return { n: payload.n };
};`;

@Agent({ name: 'printer', consumes: [{ types: ['Route'] }], publishes: [{ type: 'Print' }] })
class Printer {
  static calls = 0;

  execute([route]: AgentArtifact[]): object {
    Printer.calls += 1;
    return { printed: route!.payload.n };
  }
}

/** Fails always, or at first, or not. */
const fetched: Behaviour = (response, received) => {
  const { attempt, inputs } = requestIn(received);
  const n = inputs[0]!.payload.n as number;
  const fails = n === 4 || (n === 5 && attempt === 1);
  return (fails ? answers(500) : n === 2 ? answers(204) : replies({ n }))(response, received);
};

const said = ({ text }: ModelRequest): ModelAnswer => {
  const [, n] = /\\"n\\":\s*(\d+)/.exec(text)!;
  const [, k] = /\\"k\\":\s*\\"([^"\\]+)\\"/.exec(text)!;
  return n === '6' ? { status: 500, message: 'overloaded' } : { text: JSON.stringify({ n: Number(n), k }) };
};

const items = fc.array(
  fc.record({
    type: fc.constantFrom('Item', 'Item', 'Other'),
    k: fc.integer({ min: 0, max: 1 }),
    n: fc.integer({ min: 0, max: 7 }),
    correlation: fc.constantFrom('a', 'b'),
  }),
  { minLength: 1, maxLength: 6 },
);

describe('a replay from the record, of any kind of engine,', () => {
  const clock = new ManualClock();
  let board: Board;
  let models: ModelServer;
  let receiver: Receiver;
  let answered = 0;

  beforeAll(async () => {
    models = await ModelServer.start(said);
    receiver = await Receiver.start();
    receiver.on('/fetch', fetched);
    board = await Board.start(config(models, receiver), {
      clock,
      agents: [Printer],
      files: { 'noter.mjs': NOTER },
      settings: { outboundAllow: ['127.0.0.1/32'] },
    });
  });
  afterAll(async () => {
    await board?.close();
    await models?.close();
    await receiver?.close();
  });

  /** How often each engine that can be seen from outside has been invoked. */
  const calls = (): Record<string, number> => ({
    fetcher: receiver.received.length,
    speaker: models.requests.length,
    noter: (globalThis as { noterCalls?: number }).noterCalls ?? 0,
    printer: Printer.calls,
    person: answered,
  });
  /** A trace also has executions of other correlations that have consumed artifacts of this one. */
  const traceOf = async (id: string): Promise<TraceBody> => {
    const { body } = await board.http.get(`/api/v1/correlations/${id}/trace`).query({ limit: 500 }).expect(200);
    const trace = body as TraceBody;
    return { ...trace, executions: trace.executions.filter((each) => each.correlation_id === id) };
  };
  const isWorking = async (id: string): Promise<boolean> =>
    (await traceOf(id)).executions.some(({ state }) => state === 'running');

  /** Works as the person, and lets windows and pauses pass, but not while an agent works. */
  const ended = async (ids: readonly string[]): Promise<void> => {
    const outside = new Outside(board.http);
    for (const id of ids)
      await eventually(`${id} has ended`, async () => {
        for (const held of await outside.claim({ agents: ['person'], max: 50 })) {
          answered += 1;
          const output = { n: held.inputs[0]!.payload.n };
          expect(await outside.send(held, 'complete', { output })).toMatchObject({ status: 200 });
        }
        if ((await board.status(id)).state !== 'active') return true;
        if (!(await isWorking(id))) clock.advance(6_000);
        return false;
      });
  };
  const begin = async (id: string, overrides?: object): Promise<string> => {
    const { body } = await board.http
      .post(`/api/v1/correlations/${id}/replay`)
      .send({ mode: 'recorded', overrides })
      .expect(200);
    return (body as ReplayBody).correlation_id;
  };
  const originals = async (list: readonly { type: string; k: number; n: number; correlation: string }[]) => {
    const run = newId();
    for (const { type, k, n, correlation } of list)
      await board.publish(type, { k: `${run}-${k}`, n }, { correlation: `${run}-${correlation}` });
    const ids = [...new Set(list.map(({ correlation }) => `${run}-${correlation}`))];
    await ended(ids);
    return ids;
  };
  /** The artifacts without what differs in every replay: times, and ids of the same correlation. */
  const told = (artifacts: WireArtifact[]) => {
    const places = new Map(artifacts.map(({ id }, index) => [id, index]));
    return artifacts.map(({ type, payload, produced_by, tags }) => {
      const { input_artifact_ids: ids, ...rest } = payload;
      delete rest.execution_id;
      const inputs = (ids as string[] | undefined)?.map((id) => places.get(id) ?? id);
      return { type, produced_by, tags, payload: { ...rest, inputs } };
    });
  };
  const summaryOf = ({ executions }: TraceBody) =>
    executions.map(({ agent, state, attempts }) => [agent, state, attempts.map(({ error_type }) => error_type)]);

  const runs = Number(process.env.STARLING_PROPERTY_RUNS ?? 5);
  const parameters = { seed: printedSeed(), numRuns: runs, includeErrorInReport: true };

  test('without overrides gives equal artifacts, in order, and invokes no engine', async () => {
    await fc.assert(
      fc.asyncProperty(items, async (list) => {
        for (const id of await originals(list)) {
          const before = calls();
          const replay = await begin(id);
          // No client works, and no time passes.
          expect((await board.status(replay)).state).toBe((await board.status(id)).state);
          const [original, again] = [await traceOf(id), await traceOf(replay)];
          expect(again.executions.map((execution) => execution.replay)).toEqual(again.executions.map(() => 'recorded'));
          expect(summaryOf(again)).toEqual(summaryOf(original));
          expect(told(await board.artifacts(replay))).toEqual(told(await board.artifacts(id)));
          expect(calls()).toEqual(before);
        }
      }),
      parameters,
    );
  });

  test('with an override of one agent runs this one and what is behind it, and nothing else', async () => {
    const overridden = fc.constantFrom(...Object.keys(BEHIND));
    await fc.assert(
      fc.asyncProperty(items, overridden, async (list, agent) => {
        for (const id of await originals(list)) {
          const before = calls();
          const replay = await begin(id, { [agent]: SAME_OVERRIDES[agent as keyof typeof SAME_OVERRIDES] });
          await ended([replay]);
          const { executions } = await traceOf(replay);
          const madeAgain = new Set(executions.flatMap((each) => (each.replay === 'run' ? each.outputs : [])));
          for (const execution of executions) {
            const runs = execution.replay === 'run';
            // A window that closes with fewer artifacts than before runs, too.
            const mustRun = execution.agent === agent || execution.inputs.some((input) => madeAgain.has(input));
            const mayRun = execution.agent === agent || BEHIND[agent]!.includes(execution.agent);
            if (mustRun || !mayRun) expect([execution.agent, runs]).toEqual([execution.agent, mustRun]);
          }
          const ranBy = (name: string): number =>
            executions
              .filter((execution) => execution.agent === name && execution.replay === 'run')
              .reduce((sum, { attempts }) => sum + attempts.length, 0);
          const after = Object.entries(before).map(([name, count]) => [name, count + ranBy(name)]);
          expect(calls()).toEqual(Object.fromEntries(after));
          // It says the same, so the same comes out; only the windows of batches may close with other notes.
          const contents = async (correlation: string): Promise<string[]> =>
            (await board.artifacts(correlation))
              .filter(({ type }) => !['WorkflowError', 'Pack', 'Pair', 'Seen'].includes(type))
              .map(({ type, payload, produced_by }) => JSON.stringify({ type, payload, produced_by }))
              .sort();
          expect(await contents(replay)).toEqual(await contents(id));
        }
      }),
      parameters,
    );
  });
});
