import type { Random } from '../support/random.js';
import type { Answer } from './flow-round.js';

/** Sends a request to any of the processes. */
type Post = (path: string, body: object) => Promise<Answer>;

interface Held {
  execution_id: string;
  lease_token: string;
  inputs: { payload: { ms: number } }[];
}

const CLIENTS = 2;
const MOST = 4;
const WAIT_SECONDS = 1;
/** A process that has stopped is asked again after this time. */
const AGAIN_MS = 20;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Clients that claim the work of an external agent, and complete, fail, release or forget it. One always waits for work. */
export class ClaimingClients {
  private hasEnded = false;
  private readonly working = new Set<Promise<void>>();
  private readonly claiming: Promise<void>[];

  constructor(
    private readonly agent: string,
    private readonly random: Random,
    private readonly post: Post,
  ) {
    this.claiming = Array.from({ length: CLIENTS }, (_, n) => this.claim(`client-${n}`));
  }

  /** Resolves when they have no open request. */
  async end(): Promise<void> {
    this.hasEnded = true;
    await Promise.all(this.claiming);
    await Promise.all(this.working);
  }

  private async claim(name: string): Promise<void> {
    while (!this.hasEnded) {
      const body = { agents: [this.agent], max: MOST, wait: WAIT_SECONDS, claimed_by: name };
      const answer = await this.sent('/api/v1/executions/claim', body);
      if (answer?.status !== 200) await pause(AGAIN_MS);
      else for (const held of (answer.body as { executions: Held[] }).executions) this.begin(held);
    }
  }

  private begin(held: Held): void {
    const work = this.work(held);
    this.working.add(work);
    void work.then(() => this.working.delete(work));
  }

  private async work({ execution_id: id, lease_token, inputs }: Held): Promise<void> {
    await pause(inputs[0]!.payload.ms);
    const chance = this.random.next();
    const send = (end: string, more: object = {}): Promise<unknown> =>
      this.sent(`/api/v1/executions/${id}/${end}`, { lease_token, ...more });
    if (chance < 0.05) return;
    if (chance < 0.15) await send('release');
    else if (chance < 0.3) await send('fail', { error_message: 'again' });
    else await send('complete', { outputs: [] });
  }

  /** Returns null if the process has ended meanwhile. What it held then loses its lease. */
  private async sent(path: string, body: object): Promise<Answer | null> {
    const answer = await this.post(path, body).catch(() => null);
    const isExpected = answer === null || [200, 409, 503].includes(answer.status);
    if (!isExpected) throw new Error(`${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
    return answer;
  }
}
