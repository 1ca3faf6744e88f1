import { CLOSED, type Mistake, OPEN, withAgent, withAnswer, withWhere } from './mistake.js';

/** Expressions, also against the schemas of the declared types. */
export const EXPRESSIONS_MISTAKES: Mistake[] = [
  [
    'an expression that does not compile',
    withWhere('payload.total >'),
    `error line 10, column 30: agents.a.consumes[0].where: is not valid CEL at \`>\``,
  ],
  [
    'a field that a closed schema does not have',
    withWhere('payload.totl > 5.0'),
    'error line 10, column 16: agents.a.consumes[0].where: names the unknown field payload.totl; did you mean payload.total?',
  ],
  [
    'a field that an open schema does not declare',
    withWhere('payload.totl > 5.0', OPEN),
    'warning line 8, column 16: agents.a.consumes[0].where: names the field payload.totl, which no schema declares; did you mean payload.total?',
  ],
  [
    'a text plus a number',
    withWhere("payload.text + payload.total == 'x'"),
    'error line 10, column 16: agents.a.consumes[0].where: applies + to a text and a number in payload.text + payload.total; write string(payload.total)',
  ],
  [
    'a where that is a number',
    withWhere('payload.total'),
    'error line 10, column 16: agents.a.consumes[0].where: gives a number, but it must give true or false',
  ],
  [
    'a field of a join without its type',
    withWhere('payload.total > 5.0', CLOSED, 'types: [Order, Invoice]'),
    'error line 10, column 16: agents.a.consumes[0].where: names the unknown field payload.total; a join sees its payloads by their types: write payload.Order.total or payload.Invoice.total',
  ],
  [
    'a where that is a boolean of YAML',
    withWhere('true'),
    'error line 10, column 9: agents.a.consumes[0].where: must be a text with a CEL expression; put the expression in quotes',
  ],
  [
    'an unknown variable',
    withWhere('paylod.total > 5.0'),
    'error line 10, column 16: agents.a.consumes[0].where: names the unknown variable paylod; did you mean payload?',
  ],
  [
    'an unknown function',
    withWhere("payload.text.startWith('a')"),
    'error line 10, column 16: agents.a.consumes[0].where: calls the unknown function startWith; did you mean startsWith?',
  ],
  [
    'a join key that does not compile',
    withAgent('', { consumes: "[{ types: [Order, Invoice], join: { by: 'payload.(' } }]" }),
    `error line 3, column 63: agents.a.consumes[0].join.by: is not valid CEL at \`.(\``,
  ],
  [
    'a key of a batch window that does not compile',
    withAgent('', { consumes: "[{ types: [Order], batch: { size: 2, key: 'payload.(' } }]" }),
    `error line 3, column 65: agents.a.consumes[0].batch.key: is not valid CEL at \`.(\``,
  ],
  [
    'a key of debounce that does not compile',
    withAgent('', { consumes: "[{ types: [Order], debounce: { wait: 1s, at_most: 2s, key: 'payload.(' } }]" }),
    `error line 3, column 82: agents.a.consumes[0].debounce.key: is not valid CEL at \`.(\``,
  ],
  [
    'an integer of CEL with a number of JSON',
    withWhere('payload.n * 2 > 4.0', ''),
    'warning line 5, column 16: agents.a.consumes[0].where: payload.n * 2 mixes a JSON number (a double) with an integer; write payload.n * 2.0',
  ],
  [
    'an answer without a required field',
    withAnswer("{'total': payload.total}"),
    'error line 13, column 9: agents.a.engine.expression: gives Invoice without state, which its schema requires',
  ],
  [
    'an answer with an unknown field',
    withAnswer("{'state': 'open', 'totl': payload.total}"),
    'error line 13, column 35: agents.a.engine.expression: gives Invoice the field totl, which its schema does not allow; did you mean total?',
  ],
  [
    'an answer of another kind',
    withAnswer("{'state': 'open', 'total': payload.text}"),
    'error line 13, column 36: agents.a.engine.expression: gives a text as total of Invoice, which must be a number',
  ],
  [
    'a value that an enum does not have',
    withAnswer("{'state': 'opne'}"),
    'error line 13, column 19: agents.a.engine.expression: gives "opne" as state of Invoice, which its schema does not allow; did you mean "open"?',
  ],
  [
    'an answer that is no object',
    withAnswer('payload.total'),
    'error line 13, column 9: agents.a.engine.expression: gives a number as the payload of Invoice, which must be an object',
  ],
  [
    'an assignment',
    withWhere('payload.total = 5.0'),
    `error line 10, column 30: agents.a.consumes[0].where: is not valid CEL at \`= 5.0\``,
  ],
  [
    'an operator of another language',
    withWhere('payload.total === 5.0'),
    `error line 10, column 30: agents.a.consumes[0].where: is not valid CEL at \`=== 5.0\``,
  ],
  [
    'a word in place of an operator',
    withWhere("'payload.total > 5.0 and payload.total < 9.0'"),
    `error line 10, column 37: agents.a.consumes[0].where: is not valid CEL at \`and payload.total < 9.0\``,
  ],
];
