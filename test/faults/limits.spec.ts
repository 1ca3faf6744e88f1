import { type Answer, FlowRound, type Method, type Processes, type RequestParts } from '../flow/flow-round.js';
import { printedSeed, Random } from '../support/random.js';
import { Programs } from './programs.js';

/** Each with its own seed, which is that of the first one and its number. */
const ROUNDS = Number(process.env.STARLING_LIMIT_CRASH_ROUNDS ?? 2);
const FIRST = printedSeed();

/** Processes that are killed. */
class KilledPrograms extends Programs implements Processes {
  constructor(private readonly random: Random) {
    super();
  }

  async start(config: string, files: Record<string, string>): Promise<void> {
    await this.prepare(config, files, '1s');
    for (let place = 0; place < Programs.SIZE; place += 1) await this.begin(place);
  }

  async send(method: Method, path: string, { body, headers }: RequestParts): Promise<Answer> {
    const response = await fetch(`${this.url(this.random.between(0, Programs.SIZE - 1))}${path}`, {
      method,
      headers: { 'Content-Type': 'application/json', ...headers },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: text === '' ? null : JSON.parse(text) };
  }

  async suffer(): Promise<void> {
    const place = this.random.between(0, Programs.SIZE - 1);
    await this.kill(place);
    await this.begin(place);
  }
}

/** Runs the built program, killed with SIGKILL while its limits change: one process on SQLite, three on Postgres. */
it(`limits and rules of flow keep their promises, and nothing is idle, lost or stuck, over kills (${ROUNDS} rounds)`, async () => {
  for (let seed = FIRST; seed < FIRST + ROUNDS; seed += 1) {
    const random = new Random(seed);
    const round = new FlowRound(random, new KilledPrograms(random));
    const breaches = await round.play();
    if (breaches.length > 0) throw new Error(`seed ${seed}: ${breaches.join('\n')}\n${round.config}`);
  }
}, 86_400_000);
