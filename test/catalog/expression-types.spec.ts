// Checks expressions against the declared types: what is reported with which words and place, and what is left alone.
import { load } from './loading.js';
import { findingsIn } from './marked.js';

const TYPES = `
types:
  Order:
    schema:
      type: object
      additionalProperties: false
      required: [number, total, items]
      properties:
        number: { type: string }
        total: { type: number }
        note: { type: [string, 'null'] }
        priority: { enum: [urgent, normal] }
        customer: { $ref: '#/$defs/person' }
        items:
          type: array
          items: { type: object, additionalProperties: false, required: [name], properties: { name: { type: string }, price: { type: number } } }
      $defs: { person: { type: object, additionalProperties: false, properties: { name: { type: string }, city: { type: string } } } }
  Message:
    schema: { type: object, properties: { text: { type: string }, amount: { type: number } } }
  Invoice:
    schema:
      type: object
      additionalProperties: false
      required: [total, state]
      properties: { total: { type: number }, state: { enum: [open, paid] }, lines: { type: array, items: { type: string } } }
`;

const withWhere = (where: string, consumes = 'types: [Order]'): string => `${TYPES}
agents:
  a:
    consumes:
      - ${consumes}
        where: |
          ${where}
    publishes: [{ type: Other }]
    engine: { kind: expression, expression: '{"a": 1}' }
`;

const withAnswer = (
  expression: string,
  publishes = '{ type: Invoice }',
  consumes = 'types: [Order]',
): string => `${TYPES}
agents:
  a:
    consumes: [{ ${consumes} }]
    publishes: [${publishes}]
    engine:
      kind: expression
      expression: |
        ${expression}
`;

const withCancelKey = (key: string, types = 'Invoice', consumes = 'types: [Order]'): string => `${TYPES}
agents:
  a:
    consumes: [{ ${consumes} }]
    publishes: [{ type: Other }]
    cancel_on:
      types: [${types}]
      key: |
        ${key}
    engine: { kind: expression, expression: '{"a": 1}' }
`;

const withConsumed = (subscription: string): string => `${TYPES}
agents:
  a:
    consumes: [${subscription}]
    publishes: [{ type: Other }]
    engine: { kind: expression, expression: '{"a": 1}' }
`;

const WHERE = 'agents.a.consumes[0].where';
const ANSWER = 'agents.a.engine.expression';

describe('an expression that cannot work with the declared types', () => {
  // `▸` marks the place of the finding.
  test.each<[what: string, text: string, expected: string]>([
    [
      'a field that a closed schema does not have',
      withWhere('▸payload.totl > 5.0'),
      'names the unknown field payload.totl; did you mean payload.total?',
    ],
    [
      'a field without a similar name',
      withWhere('▸payload.xyz == 1.0'),
      'names the unknown field payload.xyz; payload has only number, total, note, priority, customer and items',
    ],
    [
      'a field by its key',
      withWhere(`▸payload['totl'] > 5.0`),
      'names the unknown field payload.totl; did you mean payload.total?',
    ],
    [
      'a field below a reference',
      withWhere(`payload.total > 1.0 && ▸payload.customer.nam == 'x'`),
      'names the unknown field payload.customer.nam; did you mean payload.customer.name?',
    ],
    [
      'a field of an element',
      withWhere('payload.items.exists(i, ▸i.prize > 1.0)'),
      'names the unknown field i.prize; did you mean i.price?',
    ],
    [
      'a field of an element by index',
      withWhere('▸payload.items[0].nme == "x"'),
      'names the unknown field payload.items[0].nme; did you mean payload.items[0].name?',
    ],
    [
      'a field of a list',
      withWhere('▸payload.items.name == "x"'),
      'names the field name of payload.items, which is a list; name an element, as in payload.items[0].name, or use payload.items.map(x, x.name)',
    ],
    [
      'an element of an object',
      withWhere('▸payload.customer[0] == "x"'),
      'names the element 0 of payload.customer, which is an object; name a field of it',
    ],
    [
      'an element of a payload without a schema',
      withWhere('▸payload[0].total > 1.0', 'types: [Unknown]'),
      'names the element 0 of payload, which is an object; name a field of it',
    ],
    [
      'an element of a join',
      withWhere('▸payload[0].total > 1.0', 'types: [Order, Message]'),
      'names the element 0 of payload, which is an object; name a field of it',
    ],
    [
      'an element of a text',
      withWhere('▸payload.number[0] == "x"'),
      'names the element 0 of payload.number, which is a text',
    ],
    [
      'a field of a text',
      withWhere('▸payload.number.size > 1'),
      'names the field size of payload.number, which is a text and has no fields',
    ],
    [
      'a field of an artifact',
      withWhere('▸artifact.produced == "x"'),
      'names the unknown field artifact.produced; artifact has only id, type, payload, tags, produced_by, correlation_id, partition_key, version and created_at',
    ],
    [
      'a payload of a join',
      withWhere('▸payload.total > 5.0', 'types: [Order, Message]'),
      'names the unknown field payload.total; a join sees its payloads by their types: write payload.Order.total',
    ],
    [
      'a type of a join',
      withWhere('▸payload.Ordr.total > 5.0', 'types: [Order, Message]'),
      'names the unknown field payload.Ordr; did you mean payload.Order?',
    ],
    [
      'text plus number',
      withWhere('▸payload.number + payload.total == "a"'),
      'applies + to a text and a number in payload.number + payload.total; write string(payload.total)',
    ],
    [
      'number times text',
      withWhere('▸payload.total * payload.number > 1.0'),
      'applies * to a number and a text in payload.total * payload.number; write double(payload.number)',
    ],
    [
      'a text below a number',
      withWhere('▸payload.number < 5.0'),
      'applies < to a text and a number in payload.number < 5.0; write double(payload.number)',
    ],
    [
      'a remainder of numbers',
      withWhere('▸payload.total % payload.total > 1.0'),
      'applies % to a number and a number in payload.total % payload.total; it takes two of one kind: an integer or an unsigned integer',
    ],
    [
      'the size of a number',
      withWhere('▸size(payload.total) > 3'),
      'calls size with payload.total, which is a number; it takes bytes, a list, a text or an object',
    ],
    [
      'a method of another kind',
      withWhere('▸payload.total.contains("x")'),
      'calls contains with payload.total, which is a number; it takes a text',
    ],
    [
      'a loop over a text',
      withWhere('▸payload.number.exists(n, n == "x")'),
      'loops over payload.number, which is a text and not a list, in `payload.number.exists(n, n == "x")`',
    ],
    [
      'a condition in a loop',
      withWhere('payload.items.all(i, ▸i.name)'),
      'uses i.name as a condition, but it is a text; compare it with a value',
    ],
    [
      'an operand of &&',
      withWhere('▸payload.total && payload.number == "x"'),
      'uses payload.total as a condition, but it is a number; compare it with a value',
    ],
    ['a where that is a number', withWhere('▸payload.total'), 'gives a number, but it must give true or false'],
    ['a where that is a text', withWhere(`▸'order ' + payload.number`), 'gives a text, but it must give true or false'],
  ])('is refused in a where: %s', async (_, text, message) => {
    expect(await findingsIn(text)).toEqual([`error at ▸ ${WHERE}: ${message}`]);
  });

  test.each<[what: string, text: string, expected: string]>([
    [
      'a similar field of an open schema',
      withWhere('▸payload.txt == "x"', 'types: [Message]'),
      'names the field payload.txt, which no schema declares; did you mean payload.text?',
    ],
    [
      'has() of a field that cannot exist',
      withWhere('▸has(payload.totl)'),
      'names the unknown field payload.totl; did you mean payload.total?',
    ],
    [
      'a value that an enum does not have',
      withWhere('▸payload.priority == "urgnet"'),
      'compares payload.priority with "urgnet", which it never is; did you mean "urgent"?',
    ],
    [
      'a type that does not come',
      withWhere('▸artifact.type == "Ordr"'),
      'compares artifact.type with "Ordr", which it never is; did you mean "Order"?',
    ],
    [
      'a number that is a text',
      withWhere('▸payload.total == "5"'),
      'compares a number with a text in payload.total == "5", and these are never equal',
    ],
  ])('causes a warning in a where: %s', async (_, text, message) => {
    expect(await findingsIn(text)).toEqual([`warning at ▸ ${WHERE}: ${message}`]);
  });

  test('is refused in a join key, which sees each artifact alone', async () => {
    const text = `${TYPES}
agents:
  a:
    consumes: [{ types: [Order, Invoice], join: { by: ▸payload.Order.number } }]
    publishes: [{ type: Other }]
    engine: { kind: expression, expression: '{"a": 1}' }
`;
    expect(await findingsIn(text)).toEqual([
      'error at ▸ agents.a.consumes[0].join.by: names the unknown field payload.Order; payload has only number, total, note, priority, customer, items, state and lines',
    ]);
  });

  test.each<[what: string, text: string, expected: string]>([
    [
      'another kind',
      withAnswer(`{'state': 'open', 'total': ▸payload.number}`),
      'gives a text as total of Invoice, which must be a number',
    ],
    [
      'another value',
      withAnswer(`{'state': ▸'opne', 'total': 1.0}`),
      'gives "opne" as state of Invoice, which its schema does not allow; did you mean "open"?',
    ],
    [
      'another value in a branch',
      withAnswer(`{'state': payload.total > 1.0 ? 'open' : ▸'closed', 'total': 1.0}`),
      'gives "closed" as state of Invoice, which must be "open" or "paid"',
    ],
    [
      'an unknown field',
      withAnswer(`{'state': 'open', 'totl': ▸payload.total}`),
      'gives Invoice the field totl, which its schema does not allow; did you mean total?',
    ],
    ['a missing field', withAnswer(`▸{'state': 'open'}`), 'gives Invoice without total, which its schema requires'],
    [
      'another kind of elements',
      withAnswer(`{'state': 'open', 'total': 1.0, 'lines': payload.items.map(i, ▸i.price)}`),
      'gives a number as lines[0] of Invoice, which must be a text',
    ],
    ['no object', withAnswer('▸payload.total'), 'gives a number as the payload of Invoice, which must be an object'],
    [
      'a list of what is no object',
      withAnswer('payload.items.map(i, ▸i.name)'),
      'gives a text as the payload of Invoice, which must be an object',
    ],
    [
      'a payload of another type',
      withAnswer('▸payload'),
      'gives Invoice the field number, which its schema does not allow',
    ],
    [
      'a type that is not published',
      withAnswer(`{'Invoic': ▸{'state': 'open', 'total': 1.0}}`, '{ type: Invoice }, { type: Message }'),
      'gives Invoic, but the agent does not publish this type; did you mean Invoice?',
    ],
    [
      'one payload for several types',
      withAnswer('▸payload.number', '{ type: Invoice }, { type: Message }'),
      'gives a single value, but the agent publishes several types; give an object keyed by type name (Invoice and Message)',
    ],
    [
      'a field of a batch window',
      withAnswer(
        `{'state': 'open', 'total': ▸payload.total}`,
        '{ type: Invoice }',
        'types: [Order], batch: { size: 2 }',
      ),
      'names the field total of payload, which is a list; name an element, as in payload[0].total, or use payload.map(x, x.total)',
    ],
  ])('is refused in an answer: %s', async (_, text, message) => {
    const [first, ...others] = await findingsIn(text);
    expect(first).toBe(`error at ▸ ${ANSWER}: ${message}`);
    expect(others).toHaveLength(message.includes('field number') ? 1 : 0);
  });

  test('is placed inside quoted, folded and plain texts, and behind variables', async () => {
    const forms = [
      `where: "payload.number == \\"x\\" && payload.totl > 1.0" }`,
      `where: '"${'${HOME:-x}'}" == payload.number && payload.totl > 1.0' }`,
    ];
    for (const form of forms)
      expect(
        await findingsIn(
          `${TYPES}\nagents:\n  a:\n    consumes: [{ types: [Order], ▸${form}]\n    engine: { kind: expression, expression: 'null' }\n`,
        ),
      ).toHaveLength(1);
    const folded = withWhere('payload.number == "x"\n          && ▸payload.totl > 1.0').replace(
      'where: |',
      'where: >-',
    );
    expect((await findingsIn(folded))[0]).toMatch(/^error at ▸ /);
    const plain = `${TYPES}\nagents:\n  a:\n    consumes: [{ types: [Order], from_agents: ["\${WHO:-external}"], where: ▸payload.totl > 1.0 }]\n    engine: { kind: expression, expression: 'null' }\n`;
    expect((await findingsIn(plain))[0]).toMatch(/^error at ▸ /);
  });
});

describe('the key of cancel_on', () => {
  test.each([
    [
      'a field that what cancels does not have',
      withCancelKey('▸payload.number'),
      'names the unknown field payload.number; payload has only total, state and lines',
    ],
    [
      'a field that the inputs do not have',
      withCancelKey('▸payload.state'),
      'names the unknown field payload.state; payload has only number, total, note, priority, customer and items',
    ],
    [
      'a field that is misspelt in both',
      withCancelKey('▸payload.totl', 'Order'),
      'names the unknown field payload.totl; did you mean payload.total?',
    ],
    [
      'a field that neither has',
      withCancelKey("▸payload.nothing == 'x' ? 'a' : payload.number"),
      'names the unknown field payload.nothing; payload has only number, total, note, priority, customer, items, state and lines',
    ],
  ])('is checked: %s', async (_, text, message) => {
    expect(await findingsIn(text)).toEqual([`error at ▸ agents.a.cancel_on.key: ${message}`]);
  });

  test.each([
    ['no list', 'types: Invoice'],
    ['an empty list', 'types: []'],
  ])('is not checked if its types are %s', async (_, types) => {
    const text = withCancelKey('payload.total').replace('types: [Invoice]', types);
    expect(await findingsIn(text)).toEqual([
      expect.stringMatching(/^error line \d+, column \d+: agents\.a\.cancel_on\.types: must be a list/),
    ]);
  });

  test.each([
    ['a field of both', withCancelKey('payload.total')],
    ['a choice', withCancelKey('has(payload.number) ? payload.number : payload.state')],
    [
      'of a join',
      withCancelKey('has(payload.Order) ? payload.Order.total : payload.total', 'Invoice', 'types: [Order, Message]'),
    ],
    ['of a batch window', withCancelKey('artifact.payload.total', 'Invoice', 'types: [Order], batch: { size: 2 }')],
  ])('is accepted: %s', async (_, text) => {
    expect(await findingsIn(text)).toEqual([]);
  });
});

test.each([
  ['breaker.key', '[{ types: [Order] }], breaker: { failures: 50%, of: 2, open: 1s, key: ▸payload.totl }'],
  ['singleton.key', '[{ types: [Order] }], singleton: { key: ▸payload.totl, on_conflict: skip }'],
  ['consumes[0].debounce.key', '[{ types: [Order], debounce: { wait: 1s, at_most: 2s, key: ▸payload.totl } }]'],
  ['consumes[0].batch.key', '[{ types: [Order], batch: { size: 2, key: ▸payload.totl } }]'],
  ['consumes[0].priority', '[{ types: [Order], priority: ▸payload.totl }]'],
  ['fair_by', '[{ types: [Order] }], fair_by: ▸payload.totl'],
  ['weight', '[{ types: [Order] }], fair_by: payload.total, weight: ▸payload.totl'],
  ['limits[0].key', '[{ types: [Order] }], limits: [{ name: calls, key: ▸payload.totl }]'],
])('%s is checked', async (path, consumes) => {
  expect(await findingsOfRule(consumes)).toEqual([
    `error at ▸ agents.a.${path}: names the unknown field payload.totl; did you mean payload.total?`,
  ]);
});

test.each([
  ['breaker.key', '[{ types: [Order] }], breaker: { failures: 50%, of: 2, open: 1s, key: "▸payload[0].total" }'],
  ['singleton.key', '[{ types: [Order] }], singleton: { key: "▸payload[0].total", on_conflict: skip }'],
  ['consumes[0].batch.key', '[{ types: [Order], batch: { size: 2, key: "▸payload[0].total" } }]'],
  ['consumes[0].priority', '[{ types: [Order], priority: "▸payload[0].total" }]'],
  ['fair_by', '[{ types: [Order] }], fair_by: "▸payload[0].total"'],
  ['limits[0].key', '[{ types: [Order] }], limits: [{ name: calls, key: "▸payload[0].total" }]'],
])('%s names no element of one payload', async (path, consumes) => {
  expect(await findingsOfRule(consumes)).toEqual([
    `error at ▸ agents.a.${path}: names the element 0 of payload, which is an object; name a field of it`,
  ]);
});

test.each([
  ['breaker.key', '[{ types: [Order] }], breaker: { failures: 50%, of: 2, open: 1s, key: "▸inputs[1].id" }'],
  ['consumes[0].where', '[{ types: [Order], where: "▸inputs[1].id != \'\'" }]'],
  ['consumes[0].where', '[{ types: [Order], batch: { size: 2 }, where: "▸inputs[1].id != \'\'" }]'],
  ['consumes[0].batch.key', '[{ types: [Order], batch: { size: 2, key: "▸inputs[1].id" } }]'],
  ['consumes[0].join.by', '[{ types: [Order, Invoice], join: { by: "▸inputs[1].id" } }]'],
  ['consumes[0].priority', '[{ types: [Order], priority: "int(▸inputs[1].payload.total)" }]'],
  ['cancel_on.key', '[{ types: [Order] }], cancel_on: { types: [Invoice], key: "▸inputs[1].id" }'],
  ['fair_by', '[{ types: [Order, Invoice], mode: any }], fair_by: "▸inputs[1].id"'],
  ['limits[0].key', '[{ types: [Order] }, { types: [Other] }], limits: [{ name: calls, key: "▸inputs[1].id" }]'],
])('%s names no input that an execution never has', async (path, consumes) => {
  expect(await findingsOfRule(consumes)).toEqual([
    `error at ▸ agents.a.${path}: names the element 1 of inputs, which has only inputs[0]`,
  ]);
});

test.each([
  ['after those of a join', '[{ types: [Order, Invoice] }], fair_by: "▸inputs[2].id"'],
  ['after those of the largest join', '[{ types: [Order] }, { types: [Order, Invoice] }], fair_by: "▸inputs[2].id"'],
])('an input %s is an error', async (_, consumes) => {
  expect(await findingsOfRule(consumes)).toEqual([
    'error at ▸ agents.a.fair_by: names the element 2 of inputs, which ends with inputs[1]',
  ]);
});

test.each([
  ['of a join', '[{ types: [Order, Invoice], where: "inputs[1].id != \'\'" }], fair_by: "inputs[1].id"'],
  ['of one of several subscriptions', '[{ types: [Order] }, { types: [Order, Invoice] }], fair_by: "inputs[1].id"'],
  ['of a batch window', '[{ types: [Order], batch: { size: 2 }, priority: "int(inputs[7].payload.total)" }]'],
  ['that is chosen', '[{ types: [Order] }], fair_by: "inputs[payload.total > 1.0 ? 1 : 0].id"'],
  ['after a look at their number', '[{ types: [Order] }], fair_by: "size(inputs) > 1 ? inputs[1].id : inputs[0].id"'],
])('an input %s is accepted', async (_, consumes) => {
  expect(await findingsOfRule(consumes)).toEqual([]);
});

function findingsOfRule(consumes: string): Promise<string[]> {
  const engine = `{ kind: expression, expression: "{'a': 1}" }`;
  return findingsIn(
    `${TYPES}\nlimits: { calls: { concurrency: 2 } }\nagents:\n  a: { consumes: ${consumes}, publishes: [{ type: Other }], engine: ${engine} }\n  b: { consumes: [{ types: [Other] }], limits: [calls], engine: ${engine} }\n`,
  );
}

test('mistakes in what an agent consumes and in its rules are reported together', async () => {
  const engine = `{ kind: expression, expression: "{'a': 1}" }`;
  const consumes = '[{ types: [Order], debounce: { wait: 1s, at_most: 2s, key: ▸payload.totl } }]';
  const agent = `{ consumes: ${consumes}, fair_by: payload.totl, publishes: [{ type: Other }], engine: ${engine} }`;
  const unknown = 'names the unknown field payload.totl; did you mean payload.total?';
  expect(await findingsIn(`${TYPES}\nagents:\n  a: ${agent}\n`)).toEqual([
    `error at ▸ agents.a.consumes[0].debounce.key: ${unknown}`,
    expect.stringMatching(/^error line \d+, column \d+: agents\.a\.fair_by: names the unknown field payload\.totl/),
  ]);
});

test.each([
  ['key', 'concurrency: 2, key: payload.totl'],
  ['units', 'rate: 60/m, burst: 10, units: payload.totl'],
])('%s of a limit is checked for each agent that takes part in it', async (name, limit) => {
  const engine = `{ kind: expression, expression: "{'a': 1}" }`;
  const agent = `{ consumes: [{ types: [Order] }], limits: [▸calls], publishes: [{ type: Other }], engine: ${engine} }`;
  expect(await findingsIn(`${TYPES}\nlimits: { calls: { ${limit} } }\nagents:\n  a: ${agent}\n`)).toEqual([
    `error at ▸ agents.a.limits[0]: limits.calls.${name} names the unknown field payload.totl; did you mean payload.total?`,
  ]);
});

test('an error in a limit hides none in those of others', async () => {
  const limits =
    'limits: { calls: { rate: 60/m, units: payload }, keyed: { concurrency: 1, key: payload }, other: { rate: often } }';
  const agent = '{ consumes: [{ types: [Order] }], limits: [other, calls, keyed], engine: { kind: external } }';
  expect(await findingsIn(`${TYPES}\n${limits}\nagents:\n  a: ${agent}\n`)).toEqual([
    expect.stringMatching(/^error line \d+, column \d+: limits\.other\.rate: must be a rate such as/),
    expect.stringMatching(/: agents\.a\.limits\[1\]: limits\.calls\.units must give a number from 0 to 60/),
    expect.stringMatching(/: agents\.a\.limits\[2\]: limits\.keyed\.key gives an object/),
  ]);
});

test.each([
  ['payload', 'an object'],
  ['payload.items', 'a list'],
  ['artifact.id', 'a text'],
])('units that are %s are %s in each agent that takes part in the limit', async (units, kind) => {
  const limits = `limits: { calls: { rate: 60/m, burst: 10, units: ${units} }, free: { rate: 60/m, units: payload.cost } }`;
  const engine = `{ kind: expression, expression: "{'a': 1}" }`;
  const agent = `{ consumes: [{ types: [Order] }], limits: [▸calls], publishes: [{ type: Other }], engine: ${engine} }`;
  const other = `{ consumes: [{ types: [Unknown] }], limits: [free], publishes: [{ type: Other }], engine: ${engine} }`;
  expect(await findingsIn(`${TYPES}\n${limits}\nagents:\n  a: ${agent}\n  b: ${other}\n`)).toEqual([
    `error at ▸ agents.a.limits[0]: limits.calls.units must give a number from 0 to 10, the burst of the rate, but gives ${kind}`,
  ]);
});

test.each([
  ['fair_by', '[{ types: [Order] }], fair_by: "▸null"', 'gives null, but a key is a text, a number, true or false'],
  [
    'singleton.key',
    '[{ types: [Order] }], singleton: { key: ▸payload.items, on_conflict: skip }',
    'gives a list, but a key is a text, a number, true or false',
  ],
  [
    'limits[0].key',
    '[{ types: [Order] }], limits: [{ name: calls, key: ▸payload }]',
    'gives an object, but a key is a text, a number, true or false',
  ],
  [
    'cancel_on.key',
    '[{ types: [Order] }], cancel_on: { types: [Invoice], key: "▸null" }',
    'gives null, but a key is a text, a number, true or false',
  ],
  [
    'cancel_on.key',
    '[{ types: [Order] }], cancel_on: { types: [Order], key: ▸payload.items }',
    'gives a list, but a key is a text, a number, true or false',
  ],
  [
    'consumes[0].join.by',
    '[{ types: [Order, Invoice], join: { by: "▸null" } }]',
    'gives null, and then no artifact triggers',
  ],
  [
    'consumes[0].batch.key',
    '[{ types: [Order], batch: { size: 2, key: "▸null" } }]',
    'gives null, and then no artifact triggers',
  ],
  [
    'consumes[0].debounce.key',
    '[{ types: [Order], debounce: { wait: 1s, at_most: 2s, key: "▸null" } }]',
    'gives null, and then no artifact triggers',
  ],
  [
    'consumes[0].priority',
    `[{ types: [Order], priority: "▸'high'" }]`,
    'must give a whole number from -1000000 to 1000000, but always gives "high"',
  ],
  [
    'consumes[0].priority',
    '[{ types: [Order], priority: "▸1.5" }]',
    'must give a whole number from -1000000 to 1000000, but always gives 1.5',
  ],
  [
    'consumes[0].priority',
    '[{ types: [Order], priority: ▸payload.items }]',
    'must give a whole number from -1000000 to 1000000, but gives a list',
  ],
  [
    'weight',
    '[{ types: [Order] }], fair_by: artifact.id, weight: ▸artifact.id',
    'must give a number from 0.001 to 1000, but gives a text',
  ],
])('%s with which nothing could start or be cancelled is refused: %s', async (path, consumes, message) => {
  const engine = `{ kind: expression, expression: "{'a': 1}" }`;
  const agent = `{ consumes: ${consumes}, publishes: [{ type: Other }], engine: ${engine} }`;
  expect(await findingsIn(`${TYPES}\nlimits: { calls: { concurrency: 2 } }\nagents:\n  a: ${agent}\n`)).toEqual([
    `error at ▸ agents.a.${path}: ${message}`,
  ]);
});

describe('an expression that may work', () => {
  test.each([
    [
      'a field that is absent now and then',
      withWhere('has(payload.note) && payload.note != null && payload.note.size() > 3'),
    ],
    ['a field that no schema knows', withWhere('payload.channel == "chat"', 'types: [Message]')],
    ['a type without a declaration', withWhere('payload.anything.at.all > 3.0', 'types: [Unknown]')],
    [
      'a field of one of several types',
      withWhere('payload.text == "x" || payload.total > 1.0', 'types: [Message, Order]\n        mode: any'),
    ],
    ['dyn() silences the check', withWhere('dyn(payload).totl > 1.0')],
    ['a list as the key of a window', withConsumed('{ types: [Order], batch: { size: 2, key: payload.items } }')],
    ['a text that may be null', withWhere('payload.note + "x" == "yx"')],
    [
      'numbers compared with integers',
      withWhere('payload.total > 4 && payload.total == 5 && int(payload.total) % 2 == 0'),
    ],
    ['types as values', withWhere('type(payload.total) == double && type(payload) == map')],
    [
      'macros in macros',
      withWhere('payload.items.filter(i, i.price > 1.0).map(i, i.name).exists_one(n, n.startsWith("A"))'),
    ],
    [
      'times',
      withWhere('timestamp(artifact.created_at).getHours("Europe/Berlin") >= 22 || duration("1h") > duration("1s")'),
    ],
    ['maps', withWhere('{"a": payload.total}.a > 1.0 && "total" in payload && payload.items[0].name in ["x", "y"]')],
    ['maps by numbers', withWhere('{1: "a"}[1] == "a" && [{true: 1.0}].exists(m, m[true] > 0.5)')],
    [
      'a key that is computed',
      withWhere('payload[artifact.type + "s"] == "x" && payload[payload.key] == "x"', 'types: [Unknown]'),
    ],
    ['inputs', withWhere('inputs[0].payload.total > 1.0 && inputs.all(i, size(i.tags) > 0)')],
    ['formats', withWhere('"%s has %d".format([payload.number, int(payload.total)]) != ""')],
  ])('is accepted in a where: %s', async (_, text) => {
    expect(await findingsIn(text)).toEqual([]);
  });

  test.each([
    ['nothing', withAnswer('null')],
    ['nothing in some cases', withAnswer(`payload.total > 1.0 ? {'state': 'open', 'total': payload.total} : null`)],
    ['a list of payloads', withAnswer(`payload.items.map(i, {'state': 'paid', 'total': i.price})`)],
    [
      'a batch window',
      withAnswer(
        `payload.map(p, {'state': 'paid', 'total': p.total})`,
        '{ type: Invoice }',
        'types: [Order], batch: { size: 2 }',
      ),
    ],
    [
      'several types',
      withAnswer(`{'Invoice': {'state': 'open', 'total': 1}, 'Message': null}`, '{ type: Invoice }, { type: Message }'),
    ],
    [
      'a join',
      withAnswer(
        `{'state': 'open', 'total': payload.Order.total + payload.Message.amount}`,
        '{ type: Invoice }',
        'types: [Order, Message]',
      ),
    ],
    ['computed keys', withAnswer(`{payload.number: 1}`)],
    ['a passed payload', withAnswer('payload', '{ type: Message }')],
    ['a value from an enum that overlaps', withAnswer(`{'text': payload.priority}`, '{ type: Message }')],
  ])('is accepted in an answer: %s', async (_, text) => {
    expect(await findingsIn(text)).toEqual([]);
  });

  const schemas: [what: string, schema: string, where: string][] = [
    [
      'patternProperties',
      '{ type: object, additionalProperties: false, patternProperties: { "^x": { type: number } } }',
      'payload.x1 > 1.0',
    ],
    [
      'a map of values',
      '{ type: object, properties: { a: { type: object, additionalProperties: { type: number } } } }',
      'payload.a.anything > 1.0',
    ],
    [
      'anyOf',
      '{ anyOf: [{ properties: { a: { type: string } } }, { properties: { b: { type: number } } }] }',
      'payload.a == "x" || payload.b > 1.0',
    ],
    [
      'closed branches of oneOf',
      '{ oneOf: [{ properties: { a: {} }, additionalProperties: false }, { properties: { b: {} }, additionalProperties: false }] }',
      'payload.a == 1.0 || payload.b == 1.0',
    ],
    [
      'then',
      '{ properties: { a: {} }, if: { required: [a] }, then: { properties: { b: {} } }, unevaluatedProperties: false }',
      'payload.b == 1.0',
    ],
    [
      'allOf',
      '{ allOf: [{ properties: { a: { type: number } } }], properties: { a: { minimum: 1 } } }',
      'payload.a > 1.0',
    ],
    [
      'a schema in itself',
      '{ type: object, properties: { below: { type: array, items: { $ref: "#" } }, n: { type: number } }, additionalProperties: false }',
      'payload.below.exists(b, b.below[0].n > 1.0)',
    ],
    [
      'lists of lists without end',
      '{ type: object, properties: { l: { $ref: "#/$defs/l" } }, $defs: { l: { type: array, items: { $ref: "#/$defs/l" } } } }',
      'payload.l[0][0].size() > 0 || payload.l == [[]]',
    ],
    [
      'references by id',
      '{ $id: "https://a.example/t", properties: { a: { $ref: "#/$defs/b" } }, $defs: { b: { $id: "https://a.example/b", type: string } } }',
      'payload.a > 1.0',
    ],
    [
      'several types of a value',
      '{ properties: { a: { type: [string, number] } } }',
      'payload.a == "x" || payload.a > 1.0',
    ],
  ];
  test.each(schemas)('is accepted with a schema that has %s', async (_, schema, where) => {
    const text = `types: { T: { schema: ${schema} } }\nagents:\n  a:\n    consumes: [{ types: [T], where: '${where}' }]\n    engine: { kind: expression, expression: 'null' }\n`;
    expect(await findingsIn(text)).toEqual([]);
  });

  test('is not refused because another one is wrong', async () => {
    await expect(load(withWhere('payload.total >'))).rejects.toThrow(
      /^[^\n]+ has 1 error:\n[^\n]+is not valid CEL[^\n]+$/,
    );
  });
});

describe('CEL without quotes', () => {
  const agents = (engine: string): string =>
    `agents:\n  a:\n    consumes: [{ types: [T] }]\n    publishes: [{ type: U }]\n    engine:\n      kind: expression\n      ▸${engine}\n`;
  const unquoted =
    'expression is CEL without quotes, which YAML reads in its own way; put the expression in quotes, or write `expression: |` and the expression in the next lines';

  test.each([
    [
      'on one line',
      `expression: { 'text': 'Dear ' + payload.customer + ', ' + payload.items.map(i, i.name).join(' and ') }`,
    ],
    [
      'on many lines',
      `expression:\n        {\n${Array.from({ length: 400 }, (_, n) => `          'f${n}': payload.a ? 'x' : 'y',`).join('\n')}\n        }`,
    ],
    ['that begins with a text', `expression: 'Dear ' + payload.customer`],
    ['that begins with a negation', 'expression: !payload.a'],
  ])('is one error that says to quote it: a value %s', async (_, engine) => {
    expect(await findingsIn(agents(engine))).toEqual([`error at ▸ ${unquoted}`]);
  });

  test('is one error if YAML can read it', async () => {
    expect(await findingsIn(agents(`expression: {'n': payload.n * 2.0, 'm': payload.n}`))).toEqual([
      'error at ▸ agents.a.engine.expression: must be a text with a CEL expression; put the expression in quotes',
    ]);
  });
});
