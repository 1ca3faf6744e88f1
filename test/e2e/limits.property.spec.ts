// Random limits, beside fair keys, breakers, cache, cancel_on, debounce, priorities and singleton, while values of limits
// and the configuration change, agents are paused, executions fail and are cancelled, leases are lost and processes stop. Uses the whole app over
// HTTP: one process on SQLite, three on Postgres.
import { type Answer, FlowRound, type Method, type Processes, type RequestParts } from '../flow/flow-round.js';
import type { TestDatabase } from '../support/database.js';
import { printedSeed, Random } from '../support/random.js';
import { Fleet } from './fleet.js';

/**
 * `npm run test:limits` plays 500. Each round has its own seed, which is that of the first one and its number, so
 * `STARLING_ROUNDS=1` and its seed play it again.
 */
const ROUNDS = Number(process.env.STARLING_ROUNDS ?? 2);
const FIRST = printedSeed();

/** Apps that share memory with the test. */
class Apps implements Processes {
  readonly areSeveral = Fleet.SIZE > 1;
  private config = '';
  private fleet!: Fleet;

  constructor(private readonly random: Random) {}

  get database(): TestDatabase {
    return this.fleet.any.app.database;
  }

  async start(config: string, files: Record<string, string>): Promise<void> {
    this.config = config;
    this.fleet = new Fleet(this.random, files);
    await this.fleet.startAll(config);
  }

  async send(method: Method, path: string, { body, headers = {} }: RequestParts): Promise<Answer> {
    const answer = await this.fleet.any.http[method](path).set(headers).send(body);
    return { status: answer.status, body: answer.body };
  }

  suffer(): Promise<void> {
    return this.random.between(0, 2) === 0 ? this.fleet.restart(this.config) : this.fleet.loseLeases();
  }

  replace(config: string): Promise<void> {
    this.config = config;
    return this.fleet.replaceAll(config);
  }

  remove(): Promise<void> {
    return this.fleet.remove();
  }
}

it(`random limits and rules of flow keep their promises, nothing is idle for long, and nothing is lost or stuck (${ROUNDS} rounds)`, async () => {
  for (let seed = FIRST; seed < FIRST + ROUNDS; seed += 1) {
    const random = new Random(seed);
    const round = new FlowRound(random, new Apps(random));
    const breaches = await round.play();
    if (breaches.length > 0) throw new Error(`seed ${seed}: ${breaches.join('\n')}\n${round.config}`);
  }
}, 86_400_000);
