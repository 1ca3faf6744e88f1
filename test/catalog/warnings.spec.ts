import { agent, load } from './loading.js';

const warningsOf = async (...agents: string[]): Promise<string[]> =>
  (await load(`agents:\n${agents.join('')}`)).warnings;
const publishes = (...types: string[]): string =>
  `    publishes: [${types.map((type) => `{ type: ${type} }`).join(', ')}]\n`;

describe('agents that no artifact can trigger', () => {
  const untriggerable = (line: number, name: string): unknown =>
    expect.stringMatching(`^line ${line}, column 3: agents\\.${name}: no artifact can trigger this agent`);

  test('a client can publish any type, so an agent without from_agents can be triggered', async () => {
    expect(
      await warningsOf(agent('a', '{ types: [T] }'), agent('b', '{ types: [U], from_agents: [external] }')),
    ).toEqual([]);
  });

  test('its only producer does not publish that type', async () => {
    const producer = agent('producer', '{ types: [T] }', publishes('U'));
    expect(await warningsOf(producer, agent('b', '{ types: [V], from_agents: [producer] }'))).toEqual([
      untriggerable(6, 'b'),
    ]);
    expect(await warningsOf(producer, agent('b', '{ types: [V, U], mode: any, from_agents: [producer] }'))).toEqual([]);
    expect(await warningsOf(producer, agent('b', '{ types: [V, U], from_agents: [producer] }'))).toEqual([
      untriggerable(6, 'b'),
    ]);
  });

  test('its only producer does not exist, and the message quotes the misspelt name', async () => {
    expect(await warningsOf(agent('a', '{ types: [T], from_agents: [nobody] }'))).toEqual([
      'line 3, column 44: agents.a.consumes[0].from_agents[0]: no agent has the name nobody, so it publishes nothing',
    ]);
    expect(await warningsOf(agent('a', '{ types: [T], from_agents: [external, nobody] }'))).toEqual([
      expect.stringContaining('no agent has the name nobody'),
    ]);
  });

  test('its only producer never adds the tag that it asks for', async () => {
    const producer = agent('producer', '{ types: [T] }', '    publishes: [{ type: U, tags: [x] }]\n');
    expect(await warningsOf(producer, agent('b', '{ types: [U], from_agents: [producer], tags: [y] }'))).toEqual([
      untriggerable(6, 'b'),
    ]);
    expect(await warningsOf(producer, agent('b', '{ types: [U], from_agents: [producer], tags: [y, x] }'))).toEqual([]);
  });

  test('only itself could trigger it, and allow_self is off', async () => {
    const self = (more: string): string => agent('a', `{ types: [T], from_agents: [a]${more} }`, publishes('T'));
    expect(await warningsOf(self(''))).toEqual([untriggerable(2, 'a')]);
    expect(await warningsOf(self(', allow_self: true, where: "payload.n > 1.0"'))).toEqual([]);
  });

  test('errors come only from other agents', async () => {
    const handler = agent('handler', '{ types: [WorkflowError] }');
    expect(await warningsOf(handler)).toEqual([untriggerable(2, 'handler')]);
    expect(await warningsOf(handler, agent('a', '{ types: [T] }'))).toEqual([]);
  });
});

describe('unknown agents', () => {
  const visible = (visibility: string): string =>
    agent('a', '{ types: [T] }', `    publishes: [{ type: U, visibility: ${visibility} }]\n`);

  test('are reported if a visibility names them', async () => {
    expect(await warningsOf(visible('{ kind: Private, agents: [a, b] }'))).toEqual([
      'line 5, column 69: agents.a.publishes[0].visibility.agents[1]: no agent has the name b, so this entry has no effect',
    ]);
    expect(await warningsOf(visible('{ kind: After, ttl: PT1H, then: { kind: Private, agents: [c] } }'))).toEqual([
      'line 5, column 98: agents.a.publishes[0].visibility.then.agents[0]: no agent has the name c, so this entry has no effect',
    ]);
    expect(await warningsOf(visible('{ kind: Private, agents: [a] }'))).toEqual([]);
  });
});

describe('cycles without a stop', () => {
  const cycle = (way: string): unknown => expect.stringContaining(`${way} is a cycle without a stop`);
  const a = agent('a', '{ types: [T] }', publishes('U'));

  test('two agents that trigger each other', async () => {
    expect(await warningsOf(a, agent('b', '{ types: [U] }', publishes('T')))).toEqual([cycle('a → b → a')]);
  });

  test('a predicate on the way can stop the cycle', async () => {
    expect(await warningsOf(a, agent('b', '{ types: [U], where: "payload.n < 3.0" }', publishes('T')))).toEqual([]);
  });

  test('a cycle runs on if one of its two subscriptions has no predicate', async () => {
    const b = agent('b', '{ types: [U], where: "payload.n < 3.0" }, { types: [U], priority: 1 }', publishes('T'));
    expect(await warningsOf(a, b)).toEqual([cycle('a → b → a')]);
  });

  test('a chain, and an agent with allow_self off, are not cycles', async () => {
    expect(await warningsOf(a, agent('b', '{ types: [U] }', publishes('V')))).toEqual([]);
    expect(await warningsOf(agent('a', '{ types: [T] }', publishes('T')))).toEqual([]);
  });

  test('an agent that may trigger itself', async () => {
    expect(await warningsOf(agent('a', '{ types: [T], allow_self: true }', publishes('T')))).toEqual([cycle('a → a')]);
  });

  test('producers and tags that do not fit the way back', async () => {
    expect(
      await warningsOf(
        agent('a', '{ types: [T], from_agents: [external] }', publishes('U')),
        agent('b', '{ types: [U] }', publishes('T')),
      ),
    ).toEqual([]);
    expect(
      await warningsOf(
        agent('a', '{ types: [T], tags: [fresh] }', publishes('U')),
        agent('b', '{ types: [U] }', publishes('T')),
      ),
    ).toEqual([]);
  });

  test('a join stops the cycle unless the cycle provides all of its types', async () => {
    const b = (types: string): string => agent('b', '{ types: [U] }', publishes(...types.split(' ')));
    expect(await warningsOf(agent('a', '{ types: [T, S] }', publishes('U')), b('T'))).toEqual([]);
    expect(await warningsOf(agent('a', '{ types: [T, S] }', publishes('U')), b('T S'))).toEqual([cycle('a → b → a')]);
  });

  test('a batch window by number alone can stay half filled, one by time cannot', async () => {
    const b = (batch: string): string => agent('b', `{ types: [U], batch: { ${batch} } }`, publishes('T'));
    expect(await warningsOf(a, b('size: 2'))).toEqual([]);
    expect(await warningsOf(a, b('size: 1'))).toEqual([cycle('a → b → a')]);
    expect(await warningsOf(a, b('size: 2, timeout: 1s'))).toEqual([cycle('a → b → a')]);
  });

  test('each group of agents is reported once, with a short cycle', async () => {
    const chain = (from: string, to: string): string =>
      agent(from, `{ types: [In${from}] }`, publishes(`In${to}`, 'Log'));
    const agents = [
      chain('a', 'b'),
      chain('b', 'c'),
      chain('c', 'a'),
      chain('x', 'y'),
      chain('y', 'x'),
      agent('log', '{ types: [Log] }'),
    ];
    expect(await warningsOf(...agents)).toEqual([cycle('a → b → c → a'), cycle('x → y → x')]);
  });
});

describe('many agents', () => {
  const MANY = 3_000;
  const WITHIN_MS = 60_000;
  const numbered = (length: number, one: (n: number) => string): string[] => Array.from({ length }, (_, n) => one(n));
  const step = (n: number, next: number, consumes = `{ types: [T${n}] }`): string =>
    agent(`a${n}`, consumes, publishes(`T${next}`));
  const names = numbered(20, (n) => `a${n}`).join(' → ');

  test(
    'checks a chain in time that grows with its length',
    async () => {
      expect(await warningsOf(...numbered(MANY, (n) => step(n, n + 1)))).toEqual([]);
      expect(
        await warningsOf(
          ...numbered(MANY, (n) =>
            step(n, n + 1, `{ types: [T${n}], from_agents: [${n === 0 ? 'external' : `a${n - 1}`}] }`),
          ),
        ),
      ).toEqual([]);
    },
    WITHIN_MS,
  );

  test(
    'reports a long cycle once, with its first agents',
    async () => {
      const warnings = await warningsOf(...numbered(MANY, (n) => step(n, (n + 1) % MANY)));
      expect(warnings).toEqual([
        expect.stringContaining(`${names} → ${MANY - 20} more → a0 is a cycle without a stop`),
      ]);
    },
    WITHIN_MS,
  );

  test(
    'reports agents that share one type once, with a short cycle',
    async () => {
      const sharing = numbered(MANY, (n) => agent(`a${n}`, '{ types: [T] }', publishes('T')));
      expect(await warningsOf(...sharing)).toEqual([expect.stringContaining('a0 → a1 → a0 is a cycle without a stop')]);
    },
    WITHIN_MS,
  );

  test(
    'reports no cycle among joins that feed each other if the first one gets no input',
    async () => {
      const core = [
        agent('core', '{ types: [Status] }', publishes('Tick')),
        agent('clock', '{ types: [Tick] }', publishes('Status')),
      ];
      const joins = numbered(MANY, (n) => agent(`a${n}`, `{ types: [T${n}, Tick] }`, publishes(`T${n + 1}`, 'Status')));
      expect(await warningsOf(...core, ...joins)).toEqual([
        expect.stringContaining('core → clock → core is a cycle without a stop'),
      ]);
      const fed = [agent('core', '{ types: [Status] }', publishes('Tick', 'T0')), ...joins.slice(0, 2)];
      expect(await warningsOf(...fed)).toEqual([expect.stringContaining('core → a0 → core is a cycle without a stop')]);
    },
    WITHIN_MS,
  );
});

describe('arithmetic that mixes payload numbers and integer literals', () => {
  test('is reported for predicates, join keys and engine expressions', async () => {
    const text = `
agents:
  a:
    consumes:
      - types: [T, U]
        where: payload.T.n * 2 > 4.0
        join: { by: payload.n * 2 }
    engine: { kind: expression, expression: '{"n": payload.T.n * 2}' }
`;
    const { warnings } = await load(text);
    expect(warnings).toEqual([
      expect.stringMatching(/^line 6, column \d+: agents\.a\.consumes\[0\]\.where: /),
      expect.stringMatching(/^line 7, column \d+: agents\.a\.consumes\[0\]\.join\.by: /),
      expect.stringMatching(/^line 8, column \d+: agents\.a\.engine\.expression: /),
    ]);
    expect(warnings.every((warning) => warning.includes('2.0'))).toBe(true);
  });
});
