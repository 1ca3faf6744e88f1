import { ArtifactStore } from '../../src/blackboard/queries/artifact-store.js';
import { Settings } from '../../src/config/settings.js';
import type { AgentArtifact, ExecutionContext } from '../../src/engines/engine.js';
import { Agent } from '../../src/engines/provider/agent.decorator.js';
import { Board } from './board.js';

// Walks everything that is reachable from the arguments of an agent's code: fields of every kind, prototypes, results
// of getters, members of collections.
const REACHABLE = `
export function reachable(roots) {
  const found = new Set();
  const waiting = [...roots];
  const add = (read) => { try { waiting.push(read()); } catch {} };
  while (waiting.length > 0) {
    const value = waiting.pop();
    if (value === null || !['object', 'function'].includes(typeof value) || value === globalThis || found.has(value)) continue;
    found.add(value);
    add(() => Object.getPrototypeOf(value));
    if (value instanceof Map || value instanceof Set) for (const item of value) add(() => item);
    for (const key of Reflect.ownKeys(value)) add(() => value[key]);
  }
  return found;
}`;

const CONFIG = `
types: { Note: {} }
agents:
  curious:
    consumes: [{ types: [Ask] }]
    publishes: [{ type: Told }]
    engine: { kind: function, module: ./curious.js }
`;

interface Given {
  inputs: AgentArtifact[];
  context: ExecutionContext;
  found: Set<object>;
}

const given: Record<string, Given> = {};
const note =
  (kind: string) =>
  (arguments_: Given): void =>
    void (given[kind] = arguments_);
(globalThis as unknown as { noteFor: typeof note }).noteFor = note;

const CURIOUS = `
import { reachable } from './reachable.js';
export default async (inputs, context) => {
  globalThis.noteFor('function')({ inputs, context, found: reachable([inputs, context]) });
  return {};
};`;

@Agent({ name: 'curious-class', consumes: [{ types: ['Ask'] }], publishes: [{ type: 'Told' }] })
class CuriousClass {
  static walk: (roots: unknown[]) => Set<object>;

  execute(inputs: AgentArtifact[], context: ExecutionContext): object {
    note('class')({ inputs, context, found: CuriousClass.walk([inputs, context]) });
    return {};
  }
}

/** Uses the application, its database, HTTP and an agent of each kind whose code runs in the process. */
describe("an agent's own code", () => {
  let board: Board;

  beforeAll(async () => {
    board = await Board.start(CONFIG, {
      files: { 'curious.js': CURIOUS, 'reachable.js': REACHABLE },
      agents: [CuriousClass],
      settings: { webhookSecret: ['a secret of the webhooks'], secretKey: '0f'.repeat(32) },
    });
    CuriousClass.walk = (
      (await import(`${board.app.folder}/reachable.js`)) as { reachable: typeof CuriousClass.walk }
    ).reachable;
    await board.publish('Note', { text: 'swordfish' }, { visibility: { kind: 'Private', agents: ['another'] } });
    await board.publishSync('Ask', {});
  });
  afterAll(() => board.close());

  it.each(['function', 'class'])('of a %s gets the fields of its type, and nothing else', (kind) => {
    const { context } = given[kind]!;
    expect(Reflect.ownKeys(context).sort()).toEqual([
      'attempt',
      'blackboard',
      'correlationId',
      'executionId',
      'logger',
      'signal',
      'traceparent',
    ]);
    expect(Reflect.ownKeys(context.blackboard)).toEqual(['get', 'list']);
    expect(Object.isFrozen(context.blackboard)).toBe(true);
  });

  it.each(['function', 'class'])(
    'of a %s cannot reach the store, the database or the settings through its arguments',
    (kind) => {
      const { found, inputs, context } = given[kind]!;
      // Checks that the walk found values; otherwise the test would prove nothing.
      for (const known of [inputs[0]!.payload, context.signal, context.logger, context.blackboard.list])
        expect(found.has(known)).toBe(true);
      const service = [ArtifactStore, Settings].map((type) => board.app.app.get<object>(type, { strict: false }));
      for (const part of service) expect(found.has(part)).toBe(false);
      const names = new Set([...found].map((object) => nameOf(object)));
      const closed =
        /Store|Repository|Kysely|Database|Statement|UnitOfWork|Settings|Catalog|Reader|Outcomes|Executor|SecretBox/;
      expect([...names].filter((name) => closed.test(name))).toEqual([]);
    },
  );

  it.each(['function', 'class'])('of a %s reaches no text that is a secret', (kind) => {
    const texts = [...given[kind]!.found]
      .flatMap((object) => Object.values(Object.getOwnPropertyDescriptors(object)).map(({ value }) => value as unknown))
      .filter((value) => typeof value === 'string');
    expect(texts.filter((text) => /swordfish|a secret of the webhooks|(0f){32}/.test(text))).toEqual([]);
  });
});

function nameOf(object: object): string {
  const { constructor } = (Object.getPrototypeOf(object) ?? {}) as { constructor?: { name?: unknown } };
  return typeof constructor?.name === 'string' ? constructor.name : '';
}
