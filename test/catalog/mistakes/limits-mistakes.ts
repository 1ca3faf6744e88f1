import type { Mistake } from './mistake.js';

const file = (limit: string, use: string): string => `limits:
  calls: ${limit}
agents:
  caller: { consumes: [{ types: [Call] }], limits: ${use}, engine: { kind: expression, expression: payload } }
`;

const agent = (keys: string): string => `agents:
  caller: { consumes: [{ types: [Call] }], ${keys}, engine: { kind: expression, expression: payload } }
`;

/** Limits, turns, what cancels, what is cached, what runs alone and what opens breakers. */
export const LIMITS_MISTAKES: Mistake[] = [
  [
    'a weight without keys',
    agent("weight: '2.0'"),
    'error line 2, column 44: agents.caller.weight: counts for the keys of fair_by only; add fair_by, or remove weight',
  ],
  [
    'a weight of nothing',
    agent("fair_by: payload.id, weight: '0.0'"),
    'error line 2, column 74: agents.caller.weight: must give a number from 0.001 to 1000, but always gives 0',
  ],
  [
    'a share without keys',
    agent('max_share: 0.2'),
    'error line 2, column 44: agents.caller.max_share: counts for the keys of fair_by only; add fair_by, or remove max_share',
  ],
  [
    'a share of everything and more',
    agent('fair_by: payload.id, max_share: 2'),
    'error line 2, column 65: agents.caller.max_share: must be a share such as 50%, from 1% to 100%, or a number above 0 and at most 1',
  ],
  [
    'a share in another form',
    agent('fair_by: payload.id, max_share: half'),
    'error line 2, column 65: agents.caller.max_share: must be a share such as 50%, from 1% to 100%, or a number above 0 and at most 1',
  ],
  [
    'keys that take turns and are not CEL',
    agent("fair_by: 'payload.'"),
    'error line 2, column 61: agents.caller.fair_by: is not valid CEL at `.`',
  ],
  [
    'a rule that cancels and has no key',
    agent('cancel_on: { types: [Gone] }'),
    'error line 2, column 44: agents.caller.cancel_on.key: is required',
  ],
  [
    'a key that cancels and is not CEL',
    agent("cancel_on: { types: [Gone], key: 'payload.' }"),
    'error line 2, column 85: agents.caller.cancel_on.key: is not valid CEL at `.`',
  ],
  ['a cache without a time', agent('cache: {}'), 'error line 2, column 44: agents.caller.cache.for: is required'],
  [
    'a cache for no time',
    agent('cache: { for: 0s }'),
    'error line 2, column 53: agents.caller.cache.for: must be longer than zero',
  ],
  [
    'a key of a cache that is not CEL',
    agent("cache: { for: 1h, key: 'payload.' }"),
    'error line 2, column 75: agents.caller.cache.key: is not valid CEL at `.`',
  ],
  [
    'a key of a cache that is null',
    agent("cache: { for: 1h, key: 'null' }"),
    'error line 2, column 68: agents.caller.cache.key: gives null, and then every execution fails',
  ],
  [
    'a cache of what people answer',
    'agents:\n  caller: { consumes: [{ types: [Call] }], cache: { for: 1h }, engine: { kind: external } }\n',
    'error line 2, column 44: agents.caller.cache: is for agents whose engine answers; clients answer for external agents',
  ],
  [
    'one execution of each key, and no word on the others',
    agent('singleton: { key: payload.id }'),
    'error line 2, column 44: agents.caller.singleton.on_conflict: is required',
  ],
  [
    'another word on the others of a key',
    agent('singleton: { key: payload.id, on_conflict: que }'),
    'error line 2, column 74: agents.caller.singleton.on_conflict: must be one of "skip", "cancel_running", "queue"',
  ],
  [
    'a key of which one execution runs that is not CEL',
    agent("singleton: { key: 'payload.', on_conflict: skip }"),
    'error line 2, column 70: agents.caller.singleton.key: is not valid CEL at `.`',
  ],
  [
    'a breaker without a time',
    agent('breaker: { failures: 50%, of: 20 }'),
    'error line 2, column 44: agents.caller.breaker.open: is required',
  ],
  [
    'a breaker for no time',
    agent('breaker: { failures: 50%, of: 20, open: 0s }'),
    'error line 2, column 78: agents.caller.breaker.open: must be longer than zero',
  ],
  [
    'a breaker that opens without failures',
    agent('breaker: { failures: 0%, of: 20, open: 30s }'),
    'error line 2, column 55: agents.caller.breaker.failures: must be a share such as 50%, from 1% to 100%',
  ],
  [
    'a breaker that opens after a count',
    agent('breaker: { failures: 10, of: 20, open: 30s }'),
    'error line 2, column 55: agents.caller.breaker.failures: must be a share such as 50%, from 1% to 100%',
  ],
  [
    'a breaker of no attempts',
    agent('breaker: { failures: 50%, of: 0, open: 30s }'),
    'error line 2, column 70: agents.caller.breaker.of: must be a whole number from 1 to 1000',
  ],
  [
    'a key of a breaker that is not CEL',
    agent("breaker: { failures: 50%, of: 20, open: 30s, key: 'payload.' }"),
    'error line 2, column 102: agents.caller.breaker.key: is not valid CEL at `.`',
  ],
  [
    'a cost below zero',
    file("{ rate: 10/s, units: '-1' }", '[calls]'),
    'error line 2, column 32: limits.calls.units: must give a number from 0 to 10, the burst of the rate, but always gives -1',
  ],
  [
    'a cost that the rate never allows',
    file("{ rate: 10/s, units: 'payload.large ? 12 : 11' }", '[calls]'),
    'error line 2, column 32: limits.calls.units: must give a number from 0 to 10, the burst of the rate',
  ],
  [
    'a cost that is a text',
    file("{ rate: 10/s, burst: 20, units: 'string(payload.size)' }", '[calls]'),
    'error line 2, column 43: limits.calls.units: must give a number from 0 to 20, the burst of the rate, but gives a text',
  ],
  [
    'a cost that is the same for all and more than the burst',
    file('{ rate: 10/s, burst: 5, units: "size(\'abcdefgh\')" }', '[calls]'),
    'error line 2, column 42: limits.calls.units: must give a number from 0 to 5, the burst of the rate, but always gives 8',
  ],
  [
    'a cost that cannot be computed',
    file("{ rate: 10/s, units: '1/0' }", '[calls]'),
    'error line 2, column 32: limits.calls.units: always fails: int divide by zero',
  ],
  [
    'a key of a limit that is an element after the last',
    file("{ concurrency: 2, key: '[1][5]' }", '[calls]'),
    'error line 2, column 34: limits.calls.key: always fails: index out of bounds in `[1]`',
  ],
  [
    'a key of a limit that is no number of JSON',
    file('{ concurrency: 2 }', "[{ name: calls, key: '0.0/0.0' }]"),
    'error line 4, column 74: agents.caller.limits[0].key: always fails: the result contains NaN, which JSON cannot represent',
  ],
  [
    'a key of a limit that is null',
    file("{ concurrency: 2, key: 'null' }", '[calls]'),
    'error line 2, column 34: limits.calls.key: gives null, but a key is a text, a number, true or false',
  ],
  [
    'a key of a limit that dyn() hides',
    file("{ concurrency: 2, key: 'dyn([1])' }", '[calls]'),
    'error line 2, column 34: limits.calls.key: gives a list, but a key is a text, a number, true or false',
  ],
  [
    'a key that is the same for all and too long',
    agent(`singleton: { key: "'${'x'.repeat(201)}'", on_conflict: skip }`),
    'error line 2, column 63: agents.caller.singleton.key: always gives a key of more than 200 characters; shorten it',
  ],
  [
    'a key of a breaker that cannot be computed',
    agent("breaker: { failures: 50%, of: 20, open: 30s, key: '1/0' }"),
    'error line 2, column 95: agents.caller.breaker.key: always fails: int divide by zero',
  ],
  [
    'a limit of nothing',
    file('{ key: payload.id }', '[calls]'),
    'error line 2, column 3: limits.calls: must be an object with concurrency, rate or both',
  ],
  [
    'a misspelt concurrency of a limit',
    file('{ concurency: 1 }', '[calls]'),
    'error line 2, column 12: limits.calls.concurency: is not a known key; did you mean concurrency?',
  ],
  [
    'a limit that lets nothing run',
    file('{ concurrency: 0 }', '[calls]'),
    'error line 2, column 12: limits.calls.concurrency: must be a whole number from 1 to 100000',
  ],
  [
    'a rate in another form',
    file('{ rate: 60 per minute }', '[calls]'),
    'error line 2, column 12: limits.calls.rate: must be a rate such as 60/m or 5/10s: a whole number from 1 to 999,999,999, a slash, and s, m, h, d or a duration',
  ],
  [
    'the rate 1000000000000/s',
    file('{ rate: 1000000000000/s }', '[calls]'),
    'error line 2, column 12: limits.calls.rate: must be a rate such as 60/m or 5/10s: a whole number from 1 to 999,999,999, a slash, and s, m, h, d or a duration',
  ],
  [
    'the rate 0/m',
    file('{ rate: 0/m }', '[calls]'),
    'error line 2, column 12: limits.calls.rate: must be a rate such as 60/m or 5/10s: a whole number from 1 to 999,999,999, a slash, and s, m, h, d or a duration',
  ],
  [
    'the rate 0.5/m',
    file('{ rate: 0.5/m }', '[calls]'),
    'error line 2, column 12: limits.calls.rate: must be a rate such as 60/m or 5/10s: a whole number from 1 to 999,999,999, a slash, and s, m, h, d or a duration',
  ],
  [
    'the rate 2000000000/m',
    file('{ rate: 2000000000/m }', '[calls]'),
    'error line 2, column 12: limits.calls.rate: must be a rate such as 60/m or 5/10s: a whole number from 1 to 999,999,999, a slash, and s, m, h, d or a duration',
  ],
  [
    'the rate 60/min',
    file('{ rate: 60/min }', '[calls]'),
    'error line 2, column 12: limits.calls.rate: must be a rate such as 60/m or 5/10s: a whole number from 1 to 999,999,999, a slash, and s, m, h, d or a duration',
  ],
  [
    'the rate 60',
    file('{ rate: 60 }', '[calls]'),
    'error line 2, column 12: limits.calls.rate: must be a rate such as 60/m or 5/10s: a whole number from 1 to 999,999,999, a slash, and s, m, h, d or a duration',
  ],
  [
    'a rate over no time',
    file('{ rate: 5/0s }', '[calls]'),
    'error line 2, column 12: limits.calls.rate: must be over a time from 1ms to 3650d',
  ],
  [
    'a rate over more than ten years',
    file('{ rate: 1/99999999999d }', '[calls]'),
    'error line 2, column 12: limits.calls.rate: must be over a time from 1ms to 3650d',
  ],
  [
    'a concurrency of an agent in a limit',
    file('{ concurrency: 2 }', '[{ name: calls, concurrency: 2 }]'),
    'error line 4, column 68: agents.caller.limits[0].concurrency: is not a known key',
  ],
  [
    'units of an agent in a limit',
    file('{ concurrency: 2 }', '[{ name: calls, units: "2.0" }]'),
    'error line 4, column 68: agents.caller.limits[0].units: is not a known key',
  ],
  [
    'a misspelt key of an agent in a limit',
    file('{ concurrency: 2 }', '[{ name: calls, keys: payload.id }]'),
    'error line 4, column 68: agents.caller.limits[0].keys: is not a known key; did you mean key?',
  ],
  [
    'an empty key of an agent in a limit',
    file('{ concurrency: 2 }', '[{ name: calls, key: "" }]'),
    'error line 4, column 68: agents.caller.limits[0].key: must be a text with a CEL expression; put the expression in quotes',
  ],
  [
    'a list as the key of an agent in a limit',
    file('{ concurrency: 2 }', '[{ name: calls, key: [a] }]'),
    'error line 4, column 68: agents.caller.limits[0].key: must be a text with a CEL expression; put the expression in quotes',
  ],
  [
    'a limit of an agent without its name',
    file('{ concurrency: 2 }', '[{ key: payload.id }]'),
    'error line 4, column 53: agents.caller.limits[0].name: is required',
  ],
  [
    'a limit of an agent that is a number',
    file('{ concurrency: 2 }', '[7]'),
    'error line 4, column 53: agents.caller.limits[0]: must be the name of a limit, or an object such as { name: per_customer, key: payload.customer }',
  ],
  [
    'eleven limits of one agent',
    file(
      '{ concurrency: 2 }',
      '[calls/0, calls/1, calls/2, calls/3, calls/4, calls/5, calls/6, calls/7, calls/8, calls/9, calls/a]',
    ),
    'error line 4, column 44: agents.caller.limits: must be a list of 1 to 10 limits, such as [openai, { name: per_customer, key: payload.customer }]',
  ],
  [
    'limits that are a list',
    'limits: [calls]\n' + agent('limits: [calls]'),
    'error line 1, column 1: limits: must be an object of limits by their names, such as { openai: { concurrency: 20 } }',
  ],
  [
    'limits that are empty',
    'limits:\n' + agent('limits: [calls]'),
    'error line 1, column 1: limits: must be an object of limits by their names, such as { openai: { concurrency: 20 } }',
  ],
  [
    'a burst without a rate',
    file('{ concurrency: 2, burst: 5 }', '[calls]'),
    'error line 2, column 28: limits.calls.burst: counts for a rate only; add rate, or remove burst',
  ],
  [
    'a rate that is held',
    file('{ rate: 60/m, hold: true }', '[calls]'),
    'error line 2, column 24: limits.calls.hold: counts for concurrency only; add concurrency, or remove hold',
  ],
  [
    'a key that is not CEL',
    file("{ concurrency: 2, key: 'payload.' }", '[calls]'),
    'error line 2, column 41: limits.calls.key: is not valid CEL at `.`',
  ],
  [
    'an unknown limit',
    file('{ concurrency: 2 }', '[call]'),
    'error line 4, column 53: agents.caller.limits[0]: limits has no call; did you mean calls?',
  ],
  [
    'a limit that is named twice',
    file('{ concurrency: 2 }', '[calls, { name: calls, key: payload.id }]'),
    'error line 4, column 62: agents.caller.limits[1].name: calls is named twice; keep one',
  ],
  [
    'a pattern with * in its middle',
    file('{ concurrency: 2 }', "['x/*/y']").replace('  calls:', "  'x/*/y':"),
    'error line 2, column 3: limits.x/*/y: may have * only at its end',
  ],
  [
    'two names of one pattern',
    file('{ concurrency: 2 }', '[calls/a, calls/b]').replace('  calls:', '  calls/*:'),
    'error line 4, column 62: agents.caller.limits[1]: calls/b is the limit calls/*, and so is calls/a; keep one',
  ],
  [
    'a name that no pattern matches',
    file('{ concurrency: 2 }', '[call]').replace('  calls:', '  calls/*:'),
    'error line 4, column 53: agents.caller.limits[0]: limits has no call',
  ],
  [
    'a limit that no agent takes part in',
    file('{ concurrency: 2 }', '[calls]').replace('agents:', '  other: { concurrency: 1 }\nagents:'),
    'warning line 3, column 3: limits.other: no agent takes part in it; name it in the limits of an agent, or remove it',
  ],
];
