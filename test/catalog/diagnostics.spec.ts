import { CatalogError } from '../../src/catalog/diagnostics.js';
import { agent, diagnosticsIn, load, problemTexts } from './loading.js';

const subscribed = (subscription: string, more = ''): string => `agents:\n${agent('a', subscription, more)}`;

describe('errors in a configuration', () => {
  test('are reported together, each with its path and line', async () => {
    const text = `
servr: { port: 1 }
types:
  Ticket:
    version: 0
    schema: { type: object, properties: { text: { type: strin } } }
agents:
  triage:
    descripton: misspelt
    consumes:
      - types: [Ticket, Ticket]
        where: payload.text ==
        join: { within: soon }
      - types: [Ticket]
        mode: some
    publishes:
      - type: Routing
        visibility: { kind: After, ttl: PT1H, then: { kind: After, ttl: PT1H } }
    engine: { kind: function, module: ./missing.ts }
    timeout: 30
  external:
    consumes: [{ types: [Routing] }]
    engine: { kind: magic }
`;
    const problems = await diagnosticsIn(text);
    const at = (path: string): string[] =>
      problems.filter((problem) => problem.path === path).map(({ line, message }) => `${line}: ${message}`);
    expect(at('servr')).toEqual(['2: is not a known key; did you mean server?']);
    expect(at('types.Ticket.version')).toEqual(['5: must be a whole number that is at least 1']);
    expect(at('types.Ticket.schema.properties.text.type')[0]).toMatch(/^6: must be one of "array", "boolean"/);
    expect(at('agents.triage.descripton')).toEqual(['9: is not a known key; did you mean description?']);
    expect(at('agents.triage.consumes[0].types[1]')).toEqual(['11: is the same as item 0; keep one']);
    expect(at('agents.triage.consumes[0].where')).toHaveLength(1);
    expect(at('agents.triage.consumes[0].join.within')).toEqual([
      '13: must be a duration such as 500ms, 30s, 5m, 2h or 30d',
    ]);
    expect(at('agents.triage.consumes[1].mode')).toEqual(['15: must be one of "all", "any"']);
    expect(at('agents.triage.publishes[0].visibility.then.kind')).toEqual([
      '18: must be one of "Public", "Private", "Labelled", "Tenant"',
    ]);
    expect(at('agents.triage.engine.module')[0]).toMatch(/^19: the file .*missing\.ts does not exist$/);
    expect(at('agents.triage.timeout')).toEqual(['20: must be a duration such as 500ms, 30s, 5m, 2h or 30d']);
    expect(at('agents.external')).toEqual(['21: external is reserved for clients; choose another name']);
    expect(at('agents.external.engine.kind')).toEqual([
      '23: must be one of "expression", "function", "http", "llm", "external"',
    ]);
    expect(problems.map(({ line }) => line)).toEqual(problems.map(({ line }) => line).sort((a, b) => a! - b!));
  });

  test('of one schedule are reported together', async () => {
    const text = `
types: { Order: {} }
schedules:
  daily: { cron: 61 * * * *, jitter: 1x, from: 2027-02-01, until: 2027-01-01, publishes: { type: Ordr, payload: "{ 'at': now }" } }
  other: {}
`;
    const found = (await diagnosticsIn(text)).map(({ path }) => path);
    expect(found.sort()).toEqual([
      'schedules.daily.cron',
      'schedules.daily.jitter',
      'schedules.daily.publishes.payload',
      'schedules.daily.publishes.type',
      'schedules.daily.until',
      'schedules.other',
      'schedules.other.publishes',
    ]);
  });

  test('cover the due time of work for a person: escalate needs another assignee, and fail takes none', async () => {
    const due = async (what: string): Promise<string[]> =>
      problemTexts(
        `agents:\n${agent('a', '{ types: [Ticket] }')}`.replace(
          /engine: .*/,
          `engine: { kind: external, assignee: anna, due: { after: 1h, ${what} } }`,
        ),
      );
    expect(await due('then: escalate, to: bela')).toEqual([]);
    expect(await due('then: escalate, to: anna')).toEqual([
      'agents.a.engine.due.to: must differ from the assignee (anna)',
    ]);
    expect(await due('then: escalate')).toEqual([
      'agents.a.engine.due.to: is missing: escalate needs the name of the new assignee',
    ]);
    expect(await due('then: fail, to: bela')).toEqual([
      'agents.a.engine.due.to: applies only to escalate; remove it, or set then: escalate',
    ]);
  });

  test('are listed in the message of the exception, one per line', async () => {
    const error = await load('agents: {}\nfoo: 1\nbar: 2\n').catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(CatalogError);
    expect((error as CatalogError).message).toMatch(
      /starling\.yaml has 2 errors:\n {2}line 2, column 1: foo: is not a known key\n {2}line 3, column 1: bar: is not a known key$/,
    );
  });

  const cases: [what: string, text: string, problem: string | RegExp][] = [
    ['a key that stands twice', 'agents: {}\nagents: {}', 'agents: occurs twice; keep one'],
    [
      'an agent named twice',
      `agents:\n${agent('a', '{ types: [T] }')}${agent('a', '{ types: [T] }')}`,
      'agents.a: occurs twice; keep one',
    ],
    ['a type named twice', 'types:\n  T: {}\n  T: {}', 'types.T: occurs twice; keep one'],
    ['text that is not YAML', 'agents: {', ': the { here is not closed'],
    [
      'a list at the top',
      '- a',
      ': must contain an object with keys such as agents, types and server; types: {} is enough',
    ],
    ['an empty file', '', ': must contain an object with keys such as agents, types and server; types: {} is enough'],
    [
      'a subscription that is only a name',
      'agents: { a: { consumes: [T], engine: { kind: expression, expression: "{}" } } }',
      'agents.a.consumes[0]: must be an object such as { types: [CustomerMessage] }',
    ],
    [
      'a type that is not a list',
      `agents:\n${agent('a', '{ types: T }')}`,
      'agents.a.consumes[0].types: must be a list of one or more texts, such as [one, two]',
    ],
    [
      'an engine that is only a name',
      'agents: { a: { consumes: [{ types: [T] }], engine: expression } }',
      'agents.a.engine: must be an object such as { kind: function, module: ./agent.ts }',
    ],
    ['several documents', 'agents: {}\n---\nagents: {}', ': the file contains several YAML documents; keep one'],
    ['an alias without its anchor', 'agents: *nowhere', /^: \*nowhere names no anchor/],
    ['an unknown YAML tag', 'agents: !what {}', /^: .*!what/],
    ['an agent without an engine', 'agents: { a: { consumes: [{ types: [T] }] } }', 'agents.a.engine: is required'],
    [
      'an agent without subscriptions',
      'agents: { a: { engine: { kind: expression, expression: payload } } }',
      'agents.a.consumes: is required',
    ],
    [
      'an engine without its option',
      'agents: { a: { consumes: [{ types: [T] }], engine: { kind: expression } } }',
      'agents.a.engine.expression: is required',
    ],
    [
      'an unknown engine option',
      'agents: { a: { consumes: [{ types: [T] }], engine: { kind: expression, expression: payload, modul: x } } }',
      /^agents\.a\.engine\.modul: is not a known key/,
    ],
    [
      'a module of another kind',
      'agents: { a: { consumes: [{ types: [T] }], engine: { kind: function, module: ./a.py } } }',
      'agents.a.engine.module: must be the path of a .ts, .js or .mjs file',
    ],
    [
      'an engine expression that does not compile',
      "agents: { a: { consumes: [{ types: [T] }], engine: { kind: expression, expression: 'payload +' } } }",
      /^agents\.a\.engine\.expression: /,
    ],
    [
      'a join key that does not compile',
      subscribed("{ types: [T, U], join: { by: 'payload.(' } }"),
      /^agents\.a\.consumes\[0\]\.join\.by: /,
    ],
    [
      'a join with a batch window',
      subscribed('{ types: [T, U], join: { within: 5m }, batch: { size: 2 } }'),
      'agents.a.consumes[0].join: a subscription has a join or a batch window, not both',
    ],
    [
      'a join on a single type',
      subscribed('{ types: [T], join: { within: 5m } }'),
      'agents.a.consumes[0].join: a join needs at least two types',
    ],
    [
      'a join in mode any',
      subscribed('{ types: [T, U], mode: any, join: { within: 5m } }'),
      'agents.a.consumes[0].join: mode any takes each artifact separately; a join needs mode all',
    ],
    [
      'a batch window over a join',
      subscribed('{ types: [T, U], batch: { size: 2 } }'),
      /^agents\.a\.consumes\[0\]\.batch: .*mode any/,
    ],
    [
      'a batch window without size and timeout',
      subscribed('{ types: [T], batch: {} }'),
      'agents.a.consumes[0].batch: must be an object with size, timeout or both',
    ],
    [
      'a batch window with a key alone',
      subscribed('{ types: [T], batch: { key: payload.n } }'),
      'agents.a.consumes[0].batch: must be an object with size, timeout or both',
    ],
    [
      'a key of a batch window that does not compile',
      subscribed("{ types: [T], batch: { size: 2, key: 'payload.(' } }"),
      /^agents\.a\.consumes\[0\]\.batch\.key: /,
    ],
    [
      'a batch window of no time',
      subscribed('{ types: [T], batch: { timeout: 0s } }'),
      'agents.a.consumes[0].batch.timeout: must be longer than zero',
    ],
    [
      'a timeout of a hundred years',
      subscribed('{ types: [T] }', '    timeout: 36500d\n'),
      'agents.a.timeout: must not be longer than 3650d',
    ],
    [
      'a timeout without a unit',
      subscribed('{ types: [T] }', "    timeout: '30'\n"),
      /^agents\.a\.timeout: must be a duration/,
    ],
    [
      'a longest delay below the first',
      subscribed('{ types: [T] }', '    retry: { delay: 5s, max_delay: 1s }\n'),
      'agents.a.retry.max_delay: must not be shorter than delay (default 1s)',
    ],
    [
      'no attempts at all',
      subscribed('{ types: [T] }', '    retry: { attempts: 0 }\n'),
      'agents.a.retry.attempts: must be a whole number from 1 to 100',
    ],
    ['artifacts that are kept for no time', 'types: { T: { retain: 0d } }', 'types.T.retain: must be longer than zero'],
    [
      'artifacts that are kept for a century',
      'types: { T: { retain: 36500d } }',
      'types.T.retain: must not be longer than 3650d',
    ],
    [
      'artifacts that are kept for a number',
      'types: { T: { retain: 30 } }',
      'types.T.retain: must be a duration such as 500ms, 30s, 5m, 2h or 30d',
    ],
    [
      'an empty list of producers',
      subscribed('{ types: [T], from_agents: [] }'),
      /^agents\.a\.consumes\[0\]\.from_agents: must be a list of one or more texts/,
    ],
    [
      'an output published twice',
      subscribed('{ types: [T] }', '    publishes: [{ type: U }, { type: U }]\n'),
      'agents.a.publishes[1].type: U is published twice; keep one',
    ],
    [
      'an agent that publishes WorkflowError',
      subscribed('{ types: [T] }', '    publishes: [{ type: WorkflowError }]\n'),
      /^agents\.a\.publishes\[0\]\.type: only the service publishes WorkflowError/,
    ],
    ['a declared WorkflowError', 'types: { WorkflowError: {} }', /^types\.WorkflowError: is reserved for the service/],
    [
      'a WorkflowError with a version',
      'types: { WorkflowError: { version: 2, retain: 30d } }',
      /^types\.WorkflowError: is reserved for the service/,
    ],
    [
      'a Private visibility without agents',
      subscribed('{ types: [T] }', '    publishes: [{ type: U, visibility: { kind: Private } }]\n'),
      'agents.a.publishes[0].visibility.agents: is required',
    ],
    [
      'a misspelled field of a visibility',
      subscribed(
        '{ types: [T] }',
        '    publishes: [{ type: U, visibility: { kind: Tenant, tenant_id: a, tenants: [a] } }]\n',
      ),
      /^agents\.a\.publishes\[0\]\.visibility\.tenants: is not a known key/,
    ],
    [
      'a field of another kind of visibility',
      subscribed(
        '{ types: [T] }',
        '    publishes: [{ type: U, visibility: { kind: After, ttl: PT1H, then: { kind: Public, agents: [a] } } }]\n',
      ),
      /^agents\.a\.publishes\[0\]\.visibility\.then\.agents: is not a known key/,
    ],
    [
      'a release after a month of unknown length',
      subscribed('{ types: [T] }', '    publishes: [{ type: U, visibility: { kind: After, ttl: P1M } }]\n'),
      /^agents\.a\.publishes\[0\]\.visibility\.ttl: must be a duration such as 30m/,
    ],
    [
      'a release after no time',
      subscribed('{ types: [T] }', '    publishes: [{ type: U, visibility: { kind: After, ttl: PT0S } }]\n'),
      /^agents\.a\.publishes\[0\]\.visibility\.ttl: must be at least one millisecond/,
    ],
    [
      'a tenant of 256 characters',
      subscribed(
        '{ types: [T] }',
        `    publishes: [{ type: U, visibility: { kind: Tenant, tenant_id: ${'a'.repeat(256)} } }]\n`,
      ),
      /^agents\.a\.publishes\[0\]\.visibility\.tenant_id: must be at most 255 characters long/,
    ],
    [
      'a label with NUL',
      subscribed(
        '{ types: [T] }',
        '    publishes: [{ type: U, visibility: { kind: After, ttl: PT1H, then: { kind: Labelled, required_labels: ["a\\0"] } } }]\n',
      ),
      /^agents\.a\.publishes\[0\]\.visibility\.then\.required_labels: must be a list of 1 to 1000 names/,
    ],
    [
      'a release later than max_ttl',
      subscribed('{ types: [T] }', '    publishes: [{ type: U, visibility: { kind: After, ttl: P31D } }]\n'),
      'agents.a.publishes[0].visibility.ttl: must be at most 30d (max_ttl)',
    ],
    [
      'a release later than a max_ttl of its own',
      `server: { max_ttl: 12h }\n${subscribed('{ types: [T] }', '    publishes: [{ type: U, visibility: { kind: After, ttl: PT13H } }]\n')}`,
      'agents.a.publishes[0].visibility.ttl: must be at most 12h (max_ttl)',
    ],
    [
      'an unknown kind of visibility',
      subscribed('{ types: [T] }', '    publishes: [{ type: U, visibility: { kind: Secret } }]\n'),
      /^agents\.a\.publishes\[0\]\.visibility\.kind: must be one of "Public"/,
    ],
    ['a name with a space at its end', "types: { 'T ': {} }", /^types\["T "\]: is not a valid name/],
    [
      'a name that objects cannot hold',
      'agents:\n' + agent('__proto__', '{ types: [T] }'),
      /^agents\.__proto__: is not a valid name/,
    ],
    [
      'a schema for payloads that are not objects',
      'types: { T: { schema: { type: string } } }',
      'types.T.schema.type: must be object, because every payload is an object',
    ],
    [
      'a reference to another document',
      'types: { T: { schema: { $ref: "https://example.com/t.json" } } }',
      /^types\.T\.schema\.\$ref: refers to https:\/\/example\.com\/t\.json.*nothing is fetched/,
    ],
    [
      'an unknown draft',
      'types: { T: { schema: { $schema: "http://json-schema.org/draft-04/schema#" } } }',
      /^types\.T\.schema\.\$schema: must be https:/,
    ],
    [
      'an unknown format',
      'types: { T: { schema: { properties: { at: { format: dat } } } } }',
      'types.T.schema.properties.at.format: "dat" is not a known format',
    ],
    [
      'a pattern that needs backtracking',
      'types: { T: { schema: { properties: { a: { pattern: "^(?=x)" } } } } }',
      /^types\.T\.schema\.properties\.a\.pattern: "\^\(\?=x\)" has \(\?=x\), but lookahead/,
    ],
    [
      'a pattern for names that needs backtracking',
      'types: { T: { schema: { patternProperties: { "(a)\\\\1": {} } } } }',
      /^types\.T\.schema\.patternProperties\.\(a\)\\1: .* has the back reference \\1/,
    ],
    [
      'a reference to the whole schema for the same value',
      'types: { T: { schema: { type: object, allOf: [{ $ref: "#" }] } } }',
      /^types\.T\.schema\.allOf\[0\]\.\$ref: "#" leads back to itself for the same value/,
    ],
    [
      'a condition that is the schema itself',
      'types: { T: { schema: { if: { $ref: "#" }, then: { required: [a] } } } }',
      /^types\.T\.schema\.if\.\$ref: "#" leads back to itself for the same value/,
    ],
    [
      'a schema of dependent keys that is the schema itself',
      'types: { T: { schema: { dependentSchemas: { a: { $ref: "#" } } } } }',
      /^types\.T\.schema\.dependentSchemas\.a\.\$ref: "#" leads back to itself for the same value/,
    ],
    [
      'a part that refers to itself for the same value',
      'types: { T: { schema: { properties: { a: { $ref: "#/$defs/a" } }, $defs: { a: { not: { $ref: "#/$defs/a" } } } } } }',
      /^types\.T\.schema\.\$defs\.a\.not\.\$ref: "#\/\$defs\/a" leads back to itself for the same value/,
    ],
    [
      'a dynamic reference',
      'types: { T: { schema: { properties: { a: { $dynamicRef: "#b" } } } } }',
      /^types\.T\.schema\.properties\.a\.\$dynamicRef: is not supported; use \$ref$/,
    ],
    [
      'a pattern that is not a regular expression',
      'types: { T: { schema: { properties: { a: { pattern: "(" } } } } }',
      /^types\.T\.schema.*: .*(regex|regular expression)/i,
    ],
    [
      'a schema that answers later',
      'types: { T: { schema: { $async: true } } }',
      /^types\.T\.schema\.\$async: is not supported/,
    ],
    ['an unknown setting', 'server: { prot: 80 }', 'server.prot: is not a known key; did you mean port?'],
  ];
  test.each(cases)('%s', async (_, text, problem) => {
    const texts = await problemTexts(text);
    expect(texts).toEqual([typeof problem === 'string' ? problem : expect.stringMatching(problem)]);
  });

  test('report a file that does not exist', async () => {
    const { loadConfiguration } = await import('../../src/engines/load-configuration.js');
    await expect(loadConfiguration('/nowhere/starling.yaml', {})).rejects.toThrow(/the file does not exist/);
  });

  test('report a folder', async () => {
    const { loadConfiguration } = await import('../../src/engines/load-configuration.js');
    await expect(loadConfiguration('test', {})).rejects.toThrow(/it is a folder; name the configuration file in it/);
  });
});
