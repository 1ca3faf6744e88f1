import { eventually } from '../support/eventually.js';
import { Board } from './board.js';

const FILES: Record<string, string> = {
  'odd-message.js': `export default async () => { throw Object.assign(new Error(), { message: { code: 7 }, name: 42 }); };`,
  'nul-message.js': `export default async () => { throw new Error('a\\0b'); };`,
  'throws-null.js': `export default async () => { throw null; };`,
  'throwing-getter.js': `export default async () => { throw { get message() { throw new Error('even this'); } }; };`,
  'throwing-json.js': `export default async () => ({ toJSON() { throw null; } });`,
  'throwing-keys.js': `export default async () => ({ get n() { throw new Error('read me not'); } });`,
  'bigint.js': `export default async () => ({ n: 1n });`,
  'circle.js': `export default async () => { const circle = {}; circle.self = circle; return circle; };`,
  'synchronous.js': `export default () => { throw new Error('before any promise'); };`,
};
const NAMES = Object.keys(FILES).map((file) => file.replace('.js', ''));

const CONFIG = `agents:
${NAMES.map(
  (name) =>
    `  ${name}: { consumes: [{ types: [${name}] }], publishes: [{ type: Done }], retry: { attempts: 1 }, engine: { kind: function, module: ./${name}.js } }`,
).join('\n')}
  spreader: { consumes: [{ types: [Spread] }], publishes: [{ type: Part }], engine: { kind: expression, expression: 'payload.list.map(n, {"n": n, "list": [n]})' } }
${Array.from(
  { length: 11 },
  (_, index) =>
    `  picky${index}: { consumes: [{ types: [Part], where: 'payload.list.exists(n, n == ${index}.0)' }], publishes: [{ type: Picked }], engine: { kind: expression, expression: '{"n": payload.n}' } }`,
).join('\n')}
`;

/** Uses the whole app over HTTP on a database, with agents that misbehave. */
describe('an agent that misbehaves', () => {
  let board: Board;

  beforeAll(async () => {
    board = await Board.start(CONFIG, { files: FILES });
  });

  afterAll(() => board.close());

  it.each(NAMES)('%s: fails with one WorkflowError and a reason, and the service continues', async (name) => {
    const { completed, artifacts } = await board.publishSync(name, {});
    expect(completed).toBe(true);
    expect(artifacts.map(({ type }) => type)).toEqual(['WorkflowError']);
    expect(artifacts[0]!.payload).toMatchObject({
      failed_agent: name,
      error_type: expect.any(String),
      error_message: expect.stringMatching(/.+/),
    });
  });

  it('publishes a thousand outputs that a dozen predicates check, without blocking other requests', async () => {
    const correlation = await board.publish('Spread', { list: Array.from({ length: 1_000 }, (_, index) => index) });
    const { completed } = await board.publishSync('Part', { n: 5, list: [5] });
    expect(completed).toBe(true);
    await eventually('all have been checked', async () => (await board.status(correlation)).state === 'completed');
    expect(await board.status(correlation)).toMatchObject({ artifact_count: 1 + 1_000 + 11, error_count: 0 });
  });
});
