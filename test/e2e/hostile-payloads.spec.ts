// Uses the application over HTTP: no payload of a client makes the check against its type's schema slow, whatever the
// schema says. The runtime's regular expressions, and Ajv alone, take longer on most of these than the test waits.
import { startApp, type TestApp } from '../support/app.js';

let app: TestApp;
beforeAll(async () => {
  app = await startApp({
    config: `
types:
  Patterned:
    schema:
      type: object
      properties:
        text: { type: string, pattern: '^(a+)+$' }
        mail: { type: string, pattern: '^([a-zA-Z0-9])(([.-]|[_]+)?([a-zA-Z0-9]+))*@[a-z]+$' }
        by_name: { type: object, patternProperties: { '^(b|b)*$': { type: string } }, additionalProperties: false }
        named: { type: object, propertyNames: { pattern: '^(c*)*$' } }
        site: { type: string, format: url }
  Listed: { schema: { type: object, properties: { items: { type: array, uniqueItems: true } } } }
  Ruled:
    schema:
      type: object
      properties: { rule: { $ref: '#/$defs/rule' } }
      $defs:
        rule:
          type: object
          oneOf:
            - { required: [all], properties: { all: { $ref: '#/$defs/rule' } } }
            - { required: [any], properties: { any: { $ref: '#/$defs/rule' }, all: { $ref: '#/$defs/rule' } } }
            - { required: [fact], properties: { fact: { type: string } } }
agents:
  reader:
    consumes: [{ types: [Patterned, Listed, Ruled], mode: any }]
    engine: { kind: expression, expression: 'null' }
`,
  });
});
afterAll(() => app.close());

/** The CPU time of this process (ms): on a busy machine wall-clock time would measure other processes. */
const spentMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
};

const nested = (levels: number): object =>
  levels === 0 ? { fact: 1 } : { all: nested(levels - 1), any: nested(0), fact: 1 };

it.each<[string, string, object, RegExp]>([
  [
    'a text for a pattern of nested repetitions',
    'Patterned',
    { text: `${'a'.repeat(60)}!` },
    /payload\.text: must match pattern/,
  ],
  ['a text for a pattern of an address', 'Patterned', { mail: 'a'.repeat(60) }, /payload\.mail: must match pattern/],
  ['a key for patternProperties', 'Patterned', { by_name: { [`${'b'.repeat(60)}!`]: 1 } }, /is not a known key/],
  ['a key for propertyNames', 'Patterned', { named: { [`${'c'.repeat(60)}!`]: 1 } }, /is not an allowed name/],
  [
    'a text for the format url',
    'Patterned',
    { site: `http://${'a@b.cc/:'.repeat(30_000)} ` },
    /payload\.site: must match format/,
  ],
  [
    'a list of 40,000 unique objects and one that is not',
    'Listed',
    { items: [...Array.from({ length: 40_000 }, (_, n) => ({ n })), { n: 0 }] },
    /payload\.items\[40000\]: is the same as item 0/,
  ],
  ['a schema that asks itself twice on each of 60 levels', 'Ruled', { rule: nested(59) }, /payload\.rule\.all/],
])('%s is refused quickly', async (_, type, payload, why) => {
  const begun = spentMs();
  const { body } = await app.http.post('/api/v1/artifacts').send({ type, payload }).expect(400);
  expect(spentMs() - begun).toBeLessThan(5_000);
  expect((body as { detail: string }).detail).toMatch(why);
});

it('a payload that the same schemas accept is accepted as fast', async () => {
  const items = Array.from({ length: 40_000 }, (_, n) => ({ n }));
  const begun = spentMs();
  await app.http.post('/api/v1/artifacts').send({ type: 'Listed', payload: { items } }).expect(200);
  await app.http
    .post('/api/v1/artifacts')
    .send({ type: 'Patterned', payload: { text: 'a'.repeat(900_000), site: 'https://user:key@example.com/a' } })
    .expect(200);
  await app.http
    .post('/api/v1/artifacts')
    .send({ type: 'Ruled', payload: { rule: { all: { any: { fact: 'x' } } } } })
    .expect(200);
  expect(spentMs() - begun).toBeLessThan(10_000);
});
