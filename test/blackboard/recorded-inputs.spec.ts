// The whole app on a real database: an original over HTTP, and lookups in it as a shadow replay makes them.
import type { ArtifactRow } from '../../src/blackboard/artifacts/artifact.js';
import { digestOf, type Parsing, RecordedInputs } from '../../src/blackboard/replays/recorded-inputs.js';
import { Board } from '../e2e/board.js';

const CONFIG = `agents:
  packer: { consumes: [{ types: [Box] }], engine: { kind: function, module: ./packer.js }, concurrency: 10 }
`;
const BOXES = 150;

/** Boxes of equal size, and each tenth again. */
const boxes = Array.from({ length: BOXES }, (_, n) => ({ n: 100 + (n % 10 === 9 ? n - 9 : n) }));

describe('the inputs of an original', () => {
  let board: Board;
  let inputs: RecordedInputs;
  let packed: { seq: number; artifact: ArtifactRow }[];
  let definition: string;

  beforeAll(async () => {
    board = await Board.start(CONFIG, { files: { 'packer.js': 'export default async () => null;' } });
    for (const box of boxes) await board.publish('Box', box, { correlation: 'boxes' });
    await board.ended('boxes');
    inputs = board.app.app.get(RecordedInputs, { strict: false });
    const { database } = board.app;
    const executions = await database.rows<{ seq: number | string; artifact_seq: number | string; definition: string }>(
      `select executions.seq, artifact_seq, definition
      from executions join execution_inputs on execution_id = executions.id order by executions.seq`,
    );
    const artifacts = (await database.rows<ArtifactRow>('select * from artifacts')).map((row) => ({
      ...row,
      created_at: Number(row.created_at),
    }));
    packed = executions.map(({ seq, artifact_seq }) => ({
      seq: Number(seq),
      artifact: artifacts.find((artifact) => Number(artifact.seq) === Number(artifact_seq))!,
    }));
    definition = executions[0]!.definition;
  });
  afterAll(async () => {
    await board?.close();
    await board?.app.database.drop();
  });

  const bytesOf = (artifacts: readonly ArtifactRow[]): number =>
    artifacts.reduce((sum, { payload }) => sum + Buffer.byteLength(payload), 0);
  const oldestOf = ({ payload }: ArtifactRow): number =>
    packed.find(({ artifact }) => artifact.payload === payload)!.seq;
  /** Counts the bytes that lookups parse. */
  const counting = (): { parsed: number; parsing: Parsing } => {
    const counted = {
      parsed: 0,
      parsing: ((bytes, work) => {
        counted.parsed += bytes;
        return work();
      }) as Parsing,
    };
    return counted;
  };

  it('are each read once for all lookups of a replay, and the oldest execution is found', async () => {
    const answered = { replay: 'replay-1', origin: 'boxes', agent: 'packer', definitions: [definition] };
    const counted = counting();
    // The newest first, so that most are found in what earlier lookups have read.
    const found = await Promise.all(
      packed.toReversed().map(({ artifact }) => inputs.find(answered, digestOf(0, [artifact]), counted.parsing)),
    );
    expect(found).toEqual(packed.toReversed().map(({ artifact }) => ({ seq: oldestOf(artifact), hasAnswers: true })));
    expect(await inputs.find(answered, digestOf(1, [packed[0]!.artifact]), counted.parsing)).toEqual({
      seq: undefined,
      hasAnswers: true,
    });
    expect(counted.parsed).toBe(bytesOf(packed.map(({ artifact }) => artifact)));
  });

  it('are read only until one is equal', async () => {
    const counted = counting();
    const answered = { replay: 'replay-2', origin: 'boxes', agent: 'packer', definitions: [definition] };
    const first = packed[0]!;
    expect((await inputs.find(answered, digestOf(0, [first.artifact]), counted.parsing)).seq).toBe(first.seq);
    expect(counted.parsed).toBeLessThan(bytesOf(packed.map(({ artifact }) => artifact)));
  });

  it.each([
    ['of another definition', { definitions: ['another'] }],
    ['of an agent without a known definition', { definitions: [] }],
    ['of another agent', { agent: 'other' }],
    ['of a correlation that is gone', { origin: 'gone' }],
  ])('are none %s', async (name, other) => {
    const answered = { replay: name, origin: 'boxes', agent: 'packer', definitions: [definition], ...other };
    const counted = counting();
    expect(await inputs.find(answered, digestOf(0, [packed[0]!.artifact]), counted.parsing)).toEqual({
      seq: undefined,
      hasAnswers: false,
    });
    expect(counted.parsed).toBe(0);
  });
});
