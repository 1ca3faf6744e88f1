// Replays with overrides over HTTP. Uses the application and its database, stopped and started again, and a model server
// of the test that speaks the wire format of OpenAI-compatible servers.
import type { ReplayBody } from '../../src/features/replays/dto/replay-body.js';
import { ConfigurationFolder } from '../support/configuration-folder.js';
import { ModelServer } from '../support/model-server.js';
import { Board } from './board.js';
import { SERVER } from './replica-boards.js';

interface Listed {
  agent: string;
  replay: string;
  state: string;
  attempt: number;
  definition: string;
}

interface Shown {
  agent: string;
  options: { engine: Record<string, unknown> };
}

const STAMP = '{"stamp": "old " + payload.text}';

const config = (url: string, { stamp = STAMP, stampType = 'string' } = {}): string => `
models:
  local/large: { input_per_million: 1, output_per_million: 2 }
types:
  Question: { schema: { type: object, required: [text], properties: { text: { type: string } } } }
  Reading: { schema: { type: object, required: [text], properties: { text: { type: string } } } }
  Reply: { schema: { type: object, required: [text], properties: { text: { type: string } } } }
  Stamp: { schema: { type: object, required: [stamp], properties: { stamp: { type: ${stampType} } } } }
agents:
  reader:
    consumes: [{ types: [Question] }]
    publishes: [{ type: Reading }]
    engine: { kind: expression, expression: '{"text": payload.text}' }
  responder:
    consumes: [{ types: [Reading] }]
    publishes: [{ type: Reply }]
    engine: { kind: llm, model: local/small, base_url: '${url}', instructions: Answer at length. }
    retry: { attempts: 2, delay: 1ms }
  stamper:
    consumes: [{ types: [Reply] }]
    publishes: [{ type: Stamp }]
    engine: { kind: expression, expression: '${stamp}' }
  joiner:
    consumes: [{ types: [Question, Reply], mode: all }]
    publishes: [{ type: Pair }]
    engine: { kind: expression, expression: '{"pair": payload.Reply.text}' }
  other:
    consumes: [{ types: [Elsewhere] }]
    publishes: [{ type: Nothing }]
    engine: { kind: llm, model: openai/gpt-5-mini, instructions: Answer. }
  person:
    consumes: [{ types: [Elsewhere] }]
    engine: { kind: external }
`;

describe('a replay with overrides', () => {
  let folder: ConfigurationFolder;
  let models: ModelServer;
  let board: Board;

  const start = async (given: Parameters<typeof config>[1] = {}, role = { api: true, worker: true }): Promise<void> => {
    board = await Board.start(config(models.url, given), { folder: folder.path, role });
  };
  const ask = async (correlation: string): Promise<void> => {
    await board.publish('Question', { text: 'When?' }, { correlation });
    await board.ended(correlation);
  };
  beforeEach(async () => {
    folder = new ConfigurationFolder();
    models = await ModelServer.start(() => ({ text: '{"text": "It is late."}' }));
    await start();
    await ask('question-1');
  });
  afterEach(async () => {
    await board?.close();
    await board?.app.database.drop();
    await models?.close();
    folder?.remove();
  });

  const post = (body: object, id = 'question-1') =>
    board.http.post(`/api/v1/correlations/${id}/replay`).send({ mode: 'full', ...body });
  const begin = async (body: object, id?: string): Promise<string> => {
    const answer = await post(body, id);
    expect([answer.status, answer.body]).toEqual([200, answer.body]);
    return (answer.body as ReplayBody).correlation_id;
  };
  const replay = async (body: object, id?: string): Promise<string> => {
    const correlation = await begin(body, id);
    await board.ended(correlation);
    return correlation;
  };
  const executions = async (correlation_id: string): Promise<Listed[]> => {
    const { body } = await board.http.get('/api/v1/executions').query({ correlation_id, limit: 100 }).expect(200);
    return (body as { items: Listed[] }).items;
  };
  const executionOf = async (agent: string, correlation: string): Promise<Listed> =>
    (await executions(correlation)).find((execution) => execution.agent === agent)!;
  const engineOf = async (agent: string, correlation: string): Promise<Record<string, unknown>> => {
    const { definition } = await executionOf(agent, correlation);
    const shown = (await board.http.get(`/api/v1/definitions/${definition}`).expect(200)).body as Shown;
    expect(shown.agent).toBe(agent);
    return shown.options.engine;
  };
  const payload = async (type: string, correlation: string): Promise<unknown> =>
    (await board.artifacts(correlation, { type })).map((artifact) => artifact.payload);

  test('runs its agents with them in the whole cascade, also after a retry and a join, and no other work', async () => {
    const overrides = {
      responder: {
        instructions: 'Answer "briefly".',
        temperature: 0.5,
        max_output_tokens: 50,
        model: 'local/large',
      },
      stamper: { expression: '{"stamp": "new " + payload.text}' },
      joiner: { expression: '{"joined": payload.Reply.text}' },
    };
    models.answers({ status: 500, message: 'try again' }, { text: '{"text": "Late."}' });
    const id = await replay({ overrides });
    expect(await board.status(id)).toMatchObject({ origin: 'question-1', state: 'completed', overrides });
    expect(models.requests.map(({ body }) => body)).toEqual(
      [1, 2].map(() => expect.objectContaining({ model: 'large', temperature: 0.5, max_tokens: 50 }) as object),
    );
    for (const { text } of models.requests) expect(text).toContain('Answer \\"briefly\\".');
    expect(await payload('Stamp', id)).toEqual([{ stamp: 'new Late.' }]);
    expect(await payload('Pair', id)).toEqual([{ joined: 'Late.' }]);
    expect(await executionOf('responder', id)).toMatchObject({ state: 'completed', attempt: 2 });
    expect(await engineOf('responder', id)).toEqual({
      kind: 'llm',
      base_url: models.url,
      ...overrides.responder,
    });
    expect(await engineOf('joiner', id)).toEqual({ kind: 'expression', ...overrides.joiner });
    expect(await engineOf('stamper', 'question-1')).toEqual({ kind: 'expression', expression: STAMP });
    const [own, ofOriginal] = [await executionOf('reader', id), await executionOf('reader', 'question-1')];
    expect(own.definition).toBe(ofOriginal.definition);

    models.answers({ text: '{"text": "Very late."}' });
    await ask('question-2');
    const plain = await replay({ overrides: {} }, 'question-2');
    for (const other of ['question-2', plain]) {
      expect(await payload('Stamp', other)).toEqual([{ stamp: 'old Very late.' }]);
      expect(await payload('Pair', other)).toEqual([{ pair: 'Very late.' }]);
      expect(await board.status(other)).not.toHaveProperty('overrides');
    }
    expect(models.requests.map(({ body }) => body.model)).toEqual(['small', 'small']);
    for (const { text } of models.requests) expect(text).toContain('Answer at length.');
  });

  test('from the record runs the overridden agents and those behind them, and has the definition that a file would have', async () => {
    models.requests.length = 0;
    const expression = '{"stamp": "new " + payload.text}';
    const ran = async (id: string): Promise<string[]> =>
      (await executions(id)).map((execution) => `${execution.agent} ${execution.replay}`).sort();
    const id = await replay({ mode: 'recorded', overrides: { stamper: { expression } } });
    expect(await payload('Stamp', id)).toEqual([{ stamp: 'new It is late.' }]);
    expect(await ran(id)).toEqual(['joiner recorded', 'reader recorded', 'responder recorded', 'stamper run']);
    // An agent counts as changed even if the override says what the configuration says.
    const same = await replay({ mode: 'recorded', overrides: { stamper: { expression: STAMP } } });
    expect(await ran(same)).toEqual(await ran(id));
    expect(models.requests).toEqual([]);
    const behind = await replay({ mode: 'recorded', overrides: { responder: { temperature: 0 } } });
    expect(await ran(behind)).toEqual(['joiner run', 'reader recorded', 'responder run', 'stamper run']);
    expect(models.requests).toHaveLength(1);

    await board.close();
    await start({ stamp: expression });
    const adopted = await replay({ mode: 'recorded' }, id);
    expect(await ran(adopted)).toEqual([
      'joiner recorded',
      'reader recorded',
      'responder recorded',
      'stamper recorded',
    ]);
  });

  test('keeps them when another process runs it, and fails if they do not fit its configuration', async () => {
    const overrides = { stamper: { expression: '{"stamp": "new " + payload.text}' } };
    await board.close();
    await start({}, SERVER);
    const id = await begin({ overrides });
    expect(await board.status(id)).toMatchObject({ state: 'active', overrides });
    await board.close();
    await start();
    await board.ended(id);
    expect(await board.status(id)).toMatchObject({ state: 'completed', overrides });
    expect(await payload('Stamp', id)).toEqual([{ stamp: 'new It is late.' }]);

    await board.close();
    await start({}, SERVER);
    const unfit = await begin({ overrides });
    await board.close();
    await start({ stamp: '{"stamp": size(payload.text)}', stampType: 'integer' });
    await board.ended(unfit);
    expect(await payload('WorkflowError', unfit)).toEqual([
      expect.objectContaining({
        failed_agent: 'stamper',
        error_type: 'override',
        attempts: 1,
        error_message: expect.stringMatching(
          /^what the replay overrides does not fit the configuration of stamper any more: expression: gives a text as stamp of Stamp, which must be /,
        ) as string,
      }),
    ]);
    expect(await executionOf('stamper', unfit)).toMatchObject({ state: 'failed', definition: null });
  });

  test('is begun once for an idempotency key, also if the overrides of a repeated request differ', async () => {
    const keyed = (temperature: number) =>
      post({ overrides: { responder: { temperature } } }).set('X-Idempotency-Key', 'key-1');
    const first = await keyed(0);
    const [same, other] = [await keyed(0), await keyed(1)];
    expect([first, same, other].map(({ status, body }) => [status, body as object])).toEqual(
      [1, 2, 3].map(() => [200, first.body]),
    );
    expect(same.headers['x-idempotency-mismatch']).toBeUndefined();
    expect(other.headers['x-idempotency-mismatch']).toBe('true');
    const id = (first.body as ReplayBody).correlation_id;
    await board.ended(id);
    expect(await board.status(id)).toMatchObject({ overrides: { responder: { temperature: 0 } } });
  });

  test('is refused with one sentence if they are wrong, and stores nothing', async () => {
    const rows = () =>
      board.app.database.rows(
        'select (select count(*) from correlations) as correlations, (select count(*) from definitions) as definitions, (select count(*) from artifacts) as artifacts',
      );
    const before = await rows();
    const OPTIONS = 'expression, instructions, temperature, max_output_tokens and model';
    const FIXED = `comes from the configuration; a replay may override ${OPTIONS}`;
    // Each of these macros doubles what is known about the result.
    const eitherOf =
      '.map(a, payload.text == "" ? (payload.text == "x" ? a : {"a": 1}) : (payload.text == "y" ? a : {"b": 1}))';
    const nested = `{"stamp": 1, "more": [{"k": 1}]${eitherOf.repeat(40)}[0].k}`;
    const twice = '.map(a, payload.text == "" ? a : a)'.repeat(60);
    const doubled = `[1]${twice}`;
    const doubledWithin = `[[[1]]]${twice}[0][0]`;
    const cases: [overrides: unknown, detail: unknown][] = [
      [[], 'overrides: must be an object'],
      [null, 'overrides: must be an object'],
      ['reader', 'overrides: must be an object'],
      [{ redaer: { expression: '{}' } }, 'overrides.redaer: no agent has this name; did you mean reader?'],
      [JSON.parse('{"__proto__": {"temperature": 0}}'), 'overrides.__proto__: no agent has this name'],
      [{ reader: {} }, `overrides.reader: must be an object with one or more of ${OPTIONS}`],
      [{ reader: 'payload' }, `overrides.reader: must be an object with one or more of ${OPTIONS}`],
      ...['kind', 'module', 'url', 'command', 'tools', 'headers', 'base_url', 'api_key', 'constructor'].map(
        (option): [unknown, unknown] => [
          { responder: { temperature: 0, [option]: 'x' } },
          `overrides.responder.${option}: ${FIXED}`,
        ],
      ),
      [
        { responder: { temprature: 0 } },
        'overrides.responder.temprature: comes from the configuration; did you mean temperature?',
      ],
      [
        { responder: { expression: '{}' } },
        'overrides.responder.expression: is an option of expression agents, but responder has the engine llm',
      ],
      [
        { person: { instructions: 'Do it.' } },
        'overrides.person.instructions: is an option of llm agents, but person has the engine external',
      ],
      [{ responder: { temperature: 3 } }, 'overrides.responder.temperature: must be a number from 0 to 2'],
      [{ responder: { temperature: '1' } }, 'overrides.responder.temperature: must be a number from 0 to 2'],
      [
        { responder: { max_output_tokens: 0 } },
        'overrides.responder.max_output_tokens: must be a whole number that is at least 1',
      ],
      [{ responder: { instructions: ['Answer.'] } }, 'overrides.responder.instructions: must be a text or a number'],
      [{ responder: { instructions: null } }, 'overrides.responder.instructions: must be a text or a number'],
      [
        { responder: { instructions: 'The key is ${LOCAL_API_KEY}.' } },
        'overrides.responder.instructions: must not have variables such as ${NAME}, which only the configuration has',
      ],
      [
        { responder: { model: 'local/unknown' } },
        'overrides.responder.model: must be a model that the configuration names: local/large, local/small or openai/gpt-5-mini',
      ],
      [
        { responder: { model: 'openai/gpt-5-mini' } },
        'overrides.responder.model: must be a model of local, because responder has a base_url',
      ],
      [
        { other: { model: 'local/large' } },
        expect.stringMatching(/^overrides\.other\.model: .*set base_url to an OpenAI-compatible server$/),
      ],
      [{ stamper: { expression: '{"stamp": ' } }, expect.stringMatching(/^overrides\.stamper\.expression: /)],
      [
        { stamper: { expression: '{"stamp": paylod.text}' } },
        'overrides.stamper.expression: names the unknown variable paylod; did you mean payload? (at character 11)',
      ],
      [
        { stamper: { expression: '{"stamp": 1}' } },
        expect.stringMatching(/^overrides\.stamper\.expression: gives .* as stamp of Stamp, which must be a text/),
      ],
      [{ stamper: { expression: doubled } }, expect.stringMatching(/^overrides\.stamper\.expression: gives /)],
      [{ stamper: { expression: doubledWithin } }, expect.stringMatching(/^overrides\.stamper\.expression: gives /)],
      [{ stamper: { expression: nested } }, expect.stringMatching(/^overrides\.stamper\.expression: gives /)],
      [
        { redaer: { expression: '{}' }, reader: {}, responder: { temperature: 3 } },
        `overrides.redaer: no agent has this name; did you mean reader?; overrides.reader: must be an object with one or more of ${OPTIONS}; overrides.responder.temperature: must be a number from 0 to 2`,
      ],
      [
        { responder: { instructions: 'x'.repeat(32_768) } },
        'overrides: must have at most 32768 bytes of JSON (got 32801)',
      ],
    ];
    for (const [overrides, detail] of cases) {
      const answer = await post({ overrides });
      expect([overrides, answer.status, answer.body]).toEqual([overrides, 400, { detail }]);
    }
    const artifact = (await board.artifacts('question-1', { type: 'Question' }))[0]!;
    const ofArtifact = await board.http
      .post(`/api/v1/artifacts/${artifact.id}/replay`)
      .send({ mode: 'recorded', overrides: { reader: { url: 'http://127.0.0.1' } } });
    expect([ofArtifact.status, ofArtifact.body]).toEqual([400, { detail: `overrides.reader.url: ${FIXED}` }]);
    expect(await rows()).toEqual(before);
  });
});
