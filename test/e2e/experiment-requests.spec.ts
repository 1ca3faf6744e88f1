// Requests for experiments over HTTP. Uses the application and its database.
import { CSV, ExperimentApp, ofCsv } from './experiment-app.js';

describe('an experiment', () => {
  const app = new ExperimentApp();

  beforeEach(() => app.open());
  afterEach(() => app.close());

  test('is created once by requests with the same key', async () => {
    const body = ofCsv();
    const [one, other] = [
      await app.experiments.post(body).set('X-Idempotency-Key', 'same'),
      await app.experiments.post(body).set('X-Idempotency-Key', 'same'),
    ];
    expect((one.body as { experiment_id: string }).experiment_id).toBe(
      (other.body as { experiment_id: string }).experiment_id,
    );
    expect(await app.count('experiments')).toBe(1);
  });

  test('is refused while ten others run', async () => {
    const waiting = ofCsv({
      data: { csv: 'text,label\na card,card\n', agent: 'person' },
      variants: [{ name: 'a' }, { name: 'b' }],
    });
    const ids: string[] = [];
    while (ids.length < 10) ids.push(await app.experiments.start(waiting));
    const { status, body } = await app.experiments.post(waiting);
    expect([status, body]).toEqual([
      409,
      { detail: '10 experiments are running, which is the most; wait until one has ended, or cancel one' },
    ]);
    await app.board.http.post(`/api/v1/experiments/${ids[0]}/cancel`).send({}).expect(200);
    await app.experiments.start(waiting);
  });

  test('is refused while its batch runs', async () => {
    const { body } = await app.board.http
      .post('/run/batch')
      .send({ agent_name: 'person', batch_inputs: [{ text: 'a card' }] })
      .expect(200);
    const { batch_id: id } = body as { batch_id: string };
    const answer = await app.experiments.post(
      ofCsv({ data: { batch: id }, expected: { recorded: true }, variants: [{ name: 'a' }, { name: 'b' }] }),
    );
    expect([answer.status, answer.body]).toEqual([
      409,
      { detail: `Batch ${id} is still running; start the experiment when it has ended` },
    ]);
  });

  describe('that is wrong', () => {
    test.each([
      [
        'no data set',
        { data: { agent: 'classifier' } },
        400,
        'data: must have one of csv, batch, artifacts and correlations (got 0)',
      ],
      ['an unknown field', { data: { cvs: 'a' } }, 400, 'data.cvs'],
      ['one variant', { variants: [{ name: 'a' }] }, 400, 'variants: must contain at least 2 elements'],
      [
        'nine variants',
        { variants: Array.from({ length: 9 }, (_, index) => ({ name: `${index}` })) },
        400,
        'variants: must contain no more than 8 elements',
      ],
      [
        'two variants of one name',
        { variants: [{ name: 'a' }, { name: 'a' }] },
        400,
        'variants[1].name: a is the name of another one',
      ],
      [
        'an unknown agent',
        { variants: [{ name: 'a', agent: 'brod' }, { name: 'b' }] },
        400,
        'variants[0].agent: no agent has the name brod; did you mean broad?',
      ],
      [
        'an override that its schema refuses',
        { variants: [{ name: 'a' }, { name: 'b', overrides: { classifier: { module: './x.ts' } } }] },
        400,
        'variants[1].overrides.classifier.module',
      ],
      [
        'an expression that does not compile',
        { variants: [{ name: 'a' }, { name: 'b', overrides: { classifier: { expression: '1 +' } } }] },
        400,
        'variants[1].overrides.classifier.expression',
      ],
      [
        'errors in overrides, in a configuration and elsewhere',
        {
          output: 'Intnet',
          variants: [
            { name: 'a', overrides: { classifier: { module: './x.ts' }, clasifier: { expression: '{}' } } },
            { name: 'a', configuration: 'candidate' },
          ],
        },
        400,
        [
          'variants[1].name: a is the name of another one; give each its own',
          'output: Unknown artifact type: Intnet; did you mean Intent?',
          'variants[0].overrides.classifier.module: comes from the configuration; a replay may override expression, instructions, temperature, max_output_tokens and model',
          'variants[0].overrides.clasifier: no agent has this name; did you mean classifier?',
          'variants[1].configuration: the operator gave no configuration for replays (setting replay_config)',
        ].join('; '),
      ],
      [
        'an agent with effects and mode shadow',
        { mode: 'shadow', data: { csv: CSV, agent: 'person' } },
        400,
        'data.agent: person does not run with mode shadow, because it is an external agent; use another mode',
      ],
      [
        'an unknown variable',
        { scorers: [{ name: 's', kind: 'cel', expression: 'payload.text' }] },
        400,
        'scorers[0].expression: names the unknown variable payload',
      ],
      [
        'a scorer without expected values',
        { expected: undefined },
        400,
        'scorers[0]: equals compares with the expected value; give expected in the request',
      ],
      [
        'a column that is not there',
        { expected: { column: 'lable' } },
        400,
        'expected.column: the header has no column "lable"',
      ],
      ['an unknown type', { output: 'Intnet' }, 400, 'output'],
      [
        'no rows',
        { data: { csv: 'text,label\n', agent: 'classifier' } },
        400,
        'data: has no rows; an experiment needs at least one',
      ],
      [
        'a broken CSV',
        { data: { csv: 'text,label\na\n', agent: 'classifier' } },
        400,
        'data.csv: line 2 has 1 field and the header 2',
      ],
      [
        'too many rows',
        { data: { csv: `text,label\n${'a,b\n'.repeat(10_001)}`, agent: 'classifier' } },
        400,
        'data: has more than 10000 rows',
      ],
      [
        'a correlation that is named twice',
        { data: { correlations: ['order-1', 'order-2', 'order-1'] }, expected: { recorded: true } },
        400,
        'data.correlations[2]: order-1 is also data.correlations[0]; name each correlation once',
      ],
      ['an unknown batch', { data: { batch: 'nope' }, expected: { recorded: true } }, 404, 'Batch not found: nope'],
    ])('with %s is refused, and stores nothing', async (_what, more, status, detail) => {
      const variants = 'data' in more && 'batch' in more.data ? { variants: [{ name: 'a' }, { name: 'b' }] } : {};
      const answer = await app.experiments.post(ofCsv({ ...variants, ...more }));
      expect([answer.status, (answer.body as { detail: string }).detail]).toEqual([
        status,
        expect.stringContaining(detail),
      ]);
      for (const table of ['experiments', 'experiment_rows', 'experiment_trials', 'correlations'])
        expect([table, await app.count(table)]).toEqual([table, 0]);
    });

    test('or unknown, or on a page that does not exist, is refused', async () => {
      const id = '019a7f72-6b1d-7c3a-9f10-2d4e6f8a0b1c';
      for (const path of [id, `${id}/rows`])
        await app.board.http.get(`/api/v1/experiments/${path}`).expect(404, { detail: `Experiment not found: ${id}` });
      const known = (await app.experiments.run(ofCsv())).experiment_id;
      const { body } = await app.board.http.get(`/api/v1/experiments/${known}/rows`).query({ after: 'x' }).expect(400);
      expect(body).toEqual({ detail: 'after: must be next of an earlier page with the same filters (got "x")' });
    });
  });
});
