import { type Mistake, OPEN, withAgent } from './mistake.js';

/** Agents: their subscriptions, outputs and limits. */
export const AGENTS_MISTAKES: Mistake[] = [
  [
    'a misspelt key of an agent',
    withAgent('    descripton: Answers\n'),
    'error line 6, column 5: agents.a.descripton: is not a known key; did you mean description?',
  ],
  [
    'an agent whose name is a step of a path, which browsers leave out of addresses',
    'agents:\n  ..:\n    consumes: [{ types: [Order] }]\n    engine: { kind: external }\n',
    'error line 2, column 3: agents[".."]: is not a valid name: use 1 to 200 characters, without control characters and without spaces at its ends, other than . and ..',
  ],
  [
    'an agent without an engine',
    'agents:\n  a:\n    consumes: [{ types: [Order] }]\n',
    'error line 2, column 3: agents.a.engine: is required',
  ],
  [
    'an agent without subscriptions',
    'agents:\n  a:\n    engine: { kind: external }\n',
    'error line 2, column 3: agents.a.consumes: is required',
  ],
  [
    'a subscription that is only a name',
    withAgent('', { consumes: '[Order]' }),
    'error line 3, column 16: agents.a.consumes[0]: must be an object such as { types: [CustomerMessage] }',
  ],
  [
    'a subscription in place of a list',
    withAgent('', { consumes: '{ types: [Order] }' }),
    'error line 3, column 5: agents.a.consumes: must be a list of one or more subscriptions, such as [{ types: [CustomerMessage] }]',
  ],
  [
    'a type in place of a list',
    withAgent('', { consumes: '[{ types: Order }]' }),
    'error line 3, column 18: agents.a.consumes[0].types: must be a list of one or more texts, such as [one, two]',
  ],
  [
    'a misspelt key of a subscription',
    withAgent('', { consumes: '[{ type: [Order] }]' }),
    'error line 3, column 18: agents.a.consumes[0].type: is not a known key; did you mean types?',
  ],
  [
    'an unknown mode',
    withAgent('', { consumes: '[{ types: [Order], mode: each }]' }),
    'error line 3, column 34: agents.a.consumes[0].mode: must be one of "all", "any"',
  ],
  [
    'a type close to a declared one',
    withAgent('', { types: OPEN, consumes: '[{ types: [Ordr] }]' }),
    'warning line 6, column 26: agents.a.consumes[0].types[0]: Ordr is not declared under types; did you mean Order?',
  ],
  [
    'a type of cancel_on close to a declared one',
    withAgent('    cancel_on: { types: [Ordr], key: payload.id }\n', { types: OPEN }),
    'warning line 9, column 26: agents.a.cancel_on.types[0]: Ordr is not declared under types; did you mean Order?',
  ],
  [
    'a where that is always false',
    withAgent('', { consumes: `[{ types: [Order], where: 'false' }]` }),
    'warning line 3, column 42: agents.a.consumes[0].where: always gives false, so no artifact matches this subscription',
  ],
  [
    'a where that always fails',
    withAgent('', { consumes: `[{ types: [Order], where: '1 / 0 == 1' }]` }),
    'warning line 3, column 42: agents.a.consumes[0].where: always fails: int divide by zero, so no artifact matches this subscription',
  ],
  [
    'an output close to a declared type',
    withAgent('', { types: OPEN.replace('Order', 'Reply'), publishes: '[{ type: Repyl }]' }),
    'warning line 7, column 19: agents.a.publishes[0].type: Repyl is not declared under types; did you mean Reply?',
  ],
  [
    'a type close to a published one',
    withAgent(
      '  b: { consumes: [{ types: [Reply] }], publishes: [{ type: Invoice }], engine: { kind: external } }\n  c: { consumes: [{ types: [Invioce] }], engine: { kind: external } }\n',
    ),
    'warning line 7, column 29: agents.c.consumes[0].types[0]: Invioce is not declared under types; did you mean Invoice?',
  ],
  [
    'an output that is only a name',
    withAgent('', { publishes: '[Reply]' }),
    'error line 4, column 17: agents.a.publishes[0]: must be an object such as { type: Reply }',
  ],
  [
    'an output that is published twice',
    withAgent('', { publishes: '[{ type: Reply }, { type: Reply }]' }),
    'error line 4, column 36: agents.a.publishes[1].type: Reply is published twice; keep one',
  ],
  [
    'an unknown producer',
    withAgent('', { consumes: '[{ types: [Order], from_agents: [external, cleark] }]' }) +
      '  clerk: { consumes: [{ types: [Order] }], engine: { kind: external } }\n',
    'warning line 3, column 58: agents.a.consumes[0].from_agents[1]: no agent has the name cleark, so it publishes nothing; did you mean clerk?',
  ],
  [
    'an unknown producer alone',
    withAgent('', { consumes: '[{ types: [Order], from_agents: [extrenal] }]' }),
    'warning line 3, column 48: agents.a.consumes[0].from_agents[0]: no agent has the name extrenal, so it publishes nothing; did you mean external?',
  ],
  [
    'an unknown agent in a visibility',
    withAgent('', { publishes: '[{ type: Reply, visibility: { kind: Private, agents: [cleark] } }]' }) +
      '  clerk: { consumes: [{ types: [Order] }], engine: { kind: external } }\n',
    'warning line 4, column 70: agents.a.publishes[0].visibility.agents[0]: no agent has the name cleark, so this entry has no effect; did you mean clerk?',
  ],
  [
    'a visibility without its agents',
    withAgent('', { publishes: '[{ type: Reply, visibility: { kind: Private } }]' }),
    'error line 4, column 32: agents.a.publishes[0].visibility.agents: is required',
  ],
  [
    'an unknown kind of visibility',
    withAgent('', { publishes: '[{ type: Reply, visibility: { kind: Privat } }]' }),
    'error line 4, column 46: agents.a.publishes[0].visibility.kind: must be one of "Public", "Private", "Labelled", "Tenant", "After"; did you mean "Private"?',
  ],
  [
    'a release after a month of unknown length',
    withAgent('', { publishes: '[{ type: Reply, visibility: { kind: After, ttl: P1M } }]' }),
    'error line 4, column 59: agents.a.publishes[0].visibility.ttl: must be a duration such as 30m, PT1H or P2D (without years or months)',
  ],
  [
    'a timeout that is a number',
    withAgent('    timeout: 30\n'),
    'error line 6, column 5: agents.a.timeout: must be a duration such as 500ms, 30s, 5m, 2h or 30d',
  ],
  [
    'a timeout in words',
    withAgent('    timeout: 5 minutes\n'),
    'error line 6, column 5: agents.a.timeout: must be a duration such as 500ms, 30s, 5m, 2h or 30d',
  ],
  [
    'a timeout of no time',
    withAgent('    timeout: 0s\n'),
    'error line 6, column 5: agents.a.timeout: must be longer than zero',
  ],
  [
    'a timeout of a century',
    withAgent('    timeout: 36500d\n'),
    'error line 6, column 5: agents.a.timeout: must not be longer than 3650d',
  ],
  [
    'a longest delay below the first',
    withAgent('    retry: { delay: 5s, max_delay: 1s }\n'),
    'error line 6, column 25: agents.a.retry.max_delay: must not be shorter than delay (default 1s)',
  ],
  [
    'no attempts',
    withAgent('    retry: { attempts: 0 }\n'),
    'error line 6, column 14: agents.a.retry.attempts: must be a whole number from 1 to 100',
  ],
  [
    'too many executions at a time',
    withAgent('    concurrency: 100000\n'),
    'error line 6, column 5: agents.a.concurrency: must be a whole number from 1 to 10000',
  ],
  [
    'a number in place of a text',
    withAgent('    tenant_id: 7\n'),
    'error line 6, column 5: agents.a.tenant_id: must be a text',
  ],
  [
    'a text without characters',
    withAgent("    tenant_id: ''\n"),
    'error line 6, column 5: agents.a.tenant_id: must not be empty',
  ],
  [
    'a list in place of an object',
    withAgent('    retry: [3]\n'),
    'error line 6, column 5: agents.a.retry: must be an object such as { attempts: 3, delay: 1s, max_delay: 1m }',
  ],
  [
    'agents that are a list',
    'agents: [a]\n',
    'error line 1, column 1: agents: must be an object of agents by their names, each with consumes and engine',
  ],
  [
    'a time limit of a join in words',
    withAgent('', { consumes: '[{ types: [Order, Invoice], join: { within: soon } }]' }),
    'error line 3, column 51: agents.a.consumes[0].join.within: must be a duration such as 500ms, 30s, 5m, 2h or 30d',
  ],
  [
    'a join of one type',
    withAgent('', { consumes: '[{ types: [Order], join: { within: 5m } }]' }),
    'error line 3, column 34: agents.a.consumes[0].join: a join needs at least two types',
  ],
  [
    'a join and a batch window',
    withAgent('', { consumes: '[{ types: [Order, Invoice], join: { within: 5m }, batch: { size: 2 } }]' }),
    'error line 3, column 43: agents.a.consumes[0].join: a subscription has a join or a batch window, not both',
  ],
  [
    'a batch window without size and timeout',
    withAgent('', { consumes: '[{ types: [Order], batch: {} }]' }),
    'error line 3, column 34: agents.a.consumes[0].batch: must be an object with size, timeout or both',
  ],
  [
    'a priority that is a larger number than allowed',
    withAgent('', { consumes: "[{ types: [Order], priority: '5000000' }]" }),
    'error line 3, column 45: agents.a.consumes[0].priority: must give a whole number from -1000000 to 1000000, but always gives 5000000',
  ],
  [
    'a priority that is not a whole number',
    withAgent('', { consumes: '[{ types: [Order], priority: 1.5 }]' }),
    'error line 3, column 34: agents.a.consumes[0].priority: must be a whole number from -1000000 to 1000000, or a text with a CEL expression in quotes',
  ],
  [
    'a priority without characters',
    withAgent('', { consumes: "[{ types: [Order], priority: '' }]" }),
    'error line 3, column 34: agents.a.consumes[0].priority: must be a whole number from -1000000 to 1000000, or a text with a CEL expression in quotes',
  ],
  [
    'a key of a batch window that cannot be computed',
    withAgent('', { consumes: "[{ types: [Order], batch: { size: 2, key: '1/0' } }]" }),
    'error line 3, column 58: agents.a.consumes[0].batch.key: always fails: int divide by zero',
  ],
  [
    'debounce without the longest time',
    withAgent('', { consumes: '[{ types: [Order], debounce: { wait: 5s } }]' }),
    'error line 3, column 34: agents.a.consumes[0].debounce.at_most: is required',
  ],
  [
    'debounce that waits longer than at most',
    withAgent('', { consumes: '[{ types: [Order], debounce: { wait: 5s, at_most: 4s } }]' }),
    'error line 3, column 56: agents.a.consumes[0].debounce.at_most: must not be shorter than wait',
  ],
  [
    'debounce for no time',
    withAgent('', { consumes: '[{ types: [Order], debounce: { wait: 0s, at_most: 4s } }]' }),
    'error line 3, column 46: agents.a.consumes[0].debounce.wait: must be longer than zero',
  ],
  [
    'debounce and a batch window',
    withAgent('', { consumes: '[{ types: [Order], batch: { size: 2 }, debounce: { wait: 1s, at_most: 4s } }]' }),
    'error line 3, column 54: agents.a.consumes[0].debounce: a subscription has a batch window or debounce, not both',
  ],
  [
    'debounce and a join',
    withAgent('', {
      consumes: '[{ types: [Order, Invoice], join: { within: 5m }, debounce: { wait: 1s, at_most: 4s } }]',
    }),
    'error line 3, column 43: agents.a.consumes[0].join: a subscription has a join or debounce, not both',
  ],
  [
    'debounce over several types that join',
    withAgent('', { consumes: '[{ types: [Order, Invoice], debounce: { wait: 1s, at_most: 4s } }]' }),
    'error line 3, column 43: agents.a.consumes[0].debounce: debounce over several types needs mode any, because mode all joins them',
  ],
  [
    'an agent with a reserved name',
    'agents:\n  external: { consumes: [{ types: [Order] }], engine: { kind: external } }\n',
    'error line 2, column 3: agents.external: external is reserved for clients; choose another name',
  ],
  [
    'an agent that waits for itself',
    withAgent('', { consumes: '[{ types: [Order], from_agents: [a] }]' }),
    'warning line 2, column 3: agents.a: no artifact can trigger this agent, so it runs only if a caller names it; check its from_agents, types and tags',
  ],
  [
    'two agents that trigger each other',
    withAgent('  b: { consumes: [{ types: [Reply] }], publishes: [{ type: Order }], engine: { kind: external } }\n'),
    'warning line 2, column 3: agents.a: a → b → a is a cycle without a stop: add a where to one of its subscriptions, or max_executions_per_correlation ends it with a WorkflowError',
  ],
];
