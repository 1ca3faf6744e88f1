import { type Mistake, withAgent } from './mistake.js';

/** The form of the file: YAML, keys, variables. */
export const YAML_MISTAKES: Mistake[] = [
  [
    'an empty file',
    '',
    'error line 1, column 1: must contain an object with keys such as agents, types and server; types: {} is enough',
  ],
  [
    'a list at the top',
    '▸- agents',
    'error line 1, column 1: must contain an object with keys such as agents, types and server; types: {} is enough',
  ],
  [
    'a tab as indentation',
    'types:\n▸\tOrder: {}\n',
    'error line 1, column 1: types: has no value; indent what belongs to it, such as ▸	Order',
  ],
  [
    'a line that is indented too little',
    'agents:\n  a:\n    consumes: [{ types: [Order] }]\n   publishes: [{ type: Reply }]\n    engine: { kind: external }\n',
    'error line 4, column 1: All mapping items must start at the same column',
  ],
  [
    'a line that is indented too far',
    'types:\n  Order:\n    version: 1\n      retain: 30d\n',
    'error line 3, column 14: the value contains a further key; put a text that contains ": " in quotes, and begin a key where its neighbours begin',
  ],
  [
    'agents beside agents',
    'agents:\na:\n  consumes: [{ types: [Order] }]\n  engine: { kind: external }\n',
    'error line 1, column 1: agents: has no value; indent what belongs to it, such as a',
  ],
  [
    'a key without a space after its colon',
    'types:\n  Order:\n    version:1\n',
    'error line 2, column 3: types.Order: must be an object such as { version: 1, schema: { type: object } }',
  ],
  [
    'a bracket that is not closed',
    'agents:\n  a:\n    consumes: [{ types: [Order] }\n    engine: { kind: external }\n',
    'error line 3, column 15: the [ here is not closed',
  ],
  [
    'a bracket of another kind',
    'agents:\n  a: { consumes: [{ types: [Order }], engine: { kind: external } }\n',
    'error line 2, column 28: the [ here is not closed',
  ],
  ['a bracket too many', 'types: { Order: { version: 1 }}}\n', 'error line 1, column 32: the } here closes nothing'],
  [
    'a quote that is not closed',
    'types:\n  Order: { description: "An order }\n',
    'error line 2, column 25: the text that begins here has no closing "',
  ],
  [
    'a key that occurs twice',
    withAgent('    timeout: 1s\n    timeout: 2s\n'),
    'error line 7, column 5: agents.a.timeout: occurs twice; keep one',
  ],
  [
    'an agent that occurs twice',
    withAgent('  a: { consumes: [{ types: [Order] }], engine: { kind: external } }\n'),
    'error line 6, column 3: agents.a: occurs twice; keep one',
  ],
  [
    'two documents',
    'types: {}\n---\nagents: {}\n',
    'error line 2, column 1: the file contains several YAML documents; keep one',
  ],
  [
    'an alias without an anchor',
    'types:\n  Order: *order\n',
    'error line 2, column 10: *order names no anchor before it; put the text in quotes, or write &order before the value to repeat',
  ],
  ['an unknown tag', 'types:\n  Order: !order {}\n', 'error line 2, column 10: Unresolved tag: !order'],
  [
    'a variable that is not set',
    'server:\n  port: ${NO_SUCH_PORT}\n',
    'error line 2, column 3: server.port: the environment variable NO_SUCH_PORT is not set; set it, or write ${NO_SUCH_PORT:-default}',
  ],
  [
    'a variable with a misspelt default',
    'server:\n  server_name: "${NAME-x}"\n',
    'error line 2, column 3: server.server_name: ${NAME-x} is neither ${NAME} nor ${NAME:-default}',
  ],
  ['a misspelt section', 'agens: {}\n', 'error line 1, column 1: agens: is not a known key; did you mean agents?'],
  [
    'a colon in an unquoted text',
    'types:\n  Order: { }\n  Reply:\n    description: a reply: to an order\n',
    'error line 4, column 18: the value contains a further key; put a text that contains ": " in quotes, and begin a key where its neighbours begin',
  ],
  [
    'a map of CEL without quotes',
    withAgent('', {
      engine: `\n      kind: expression\n      expression: { 'text': 'Dear ' + payload.name + ', ' + payload.items.map(i, i.name).join(' and ') }`,
    }),
    `error line 7, column 7: expression is CEL without quotes, which YAML reads in its own way; put the expression in quotes, or write \`expression: |\` and the expression in the next lines`,
  ],
];
