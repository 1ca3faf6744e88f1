import { type Answer, FlowRound, type Method, type Processes, type RequestParts } from '../flow/flow-round.js';
import { ConfigurationFolder } from '../support/configuration-folder.js';
import { databaseOf, type TestDatabase } from '../support/database.js';
import { printedSeed, Random } from '../support/random.js';
import { Service } from '../support/service.js';

/** Each with its own seed, which is that of the first one and its number. */
const ROUNDS = Number(process.env.STARLING_LIMIT_CRASH_ROUNDS ?? 2);
const FIRST = printedSeed();
const SIZE = TEST_DATABASE === 'postgres' ? 3 : 1;

/** Processes that are killed. */
class Programs implements Processes {
  database!: TestDatabase;
  private readonly folder = new ConfigurationFolder();
  private readonly services: Service[] = [];
  private args: string[] = [];

  constructor(private readonly random: Random) {}

  async start(config: string, files: Record<string, string>): Promise<void> {
    for (const [name, text] of Object.entries(files)) this.folder.write(name, text);
    this.database = await databaseOf(this.folder.path);
    const file = this.folder.write('starling.yaml', config);
    this.args = ['--config', file, '--database-url', this.database.url, '--lease', '1s', '--log-level', 'warn'];
    for (let place = 0; place < SIZE; place += 1) this.services.push(await Service.start(this.args));
  }

  async send(method: Method, path: string, { body, headers }: RequestParts): Promise<Answer> {
    const { url } = this.services[this.random.between(0, SIZE - 1)]!;
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { 'Content-Type': 'application/json', ...headers },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: text === '' ? null : JSON.parse(text) };
  }

  async suffer(): Promise<void> {
    const place = this.random.between(0, SIZE - 1);
    await this.services[place]!.kill('SIGKILL');
    this.services[place] = await Service.start(this.args);
  }

  async remove(): Promise<void> {
    await Promise.all(this.services.map((service) => service.kill()));
    await this.database.drop();
    this.folder.remove();
  }
}

/** Runs the built program, killed with SIGKILL while its limits change: one process on SQLite, three on Postgres. */
it(`limits and rules of flow keep their promises, and nothing is idle, lost or stuck, over kills (${ROUNDS} rounds)`, async () => {
  for (let seed = FIRST; seed < FIRST + ROUNDS; seed += 1) {
    const random = new Random(seed);
    const round = new FlowRound(random, new Programs(random));
    const breaches = await round.play();
    if (breaches.length > 0) throw new Error(`seed ${seed}: ${breaches.join('\n')}\n${round.config}`);
  }
}, 86_400_000);
