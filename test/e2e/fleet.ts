import { ConfigurationFolder } from '../support/configuration-folder.js';
import type { Random } from '../support/random.js';
import { Board } from './board.js';
import { change } from './one-turn.js';

/**
 * Processes on one database that are stopped and started again, each with its own configuration: one on SQLite, three on
 * Postgres.
 */
export class Fleet {
  static readonly SIZE = TEST_DATABASE === 'postgres' ? 3 : 1;
  readonly live: Board[] = [];
  /** One of them that is being replaced. A request would reach it although its server is closed. */
  private leaving: Board | undefined;
  private readonly folder = new ConfigurationFolder();

  constructor(
    private readonly random: Random,
    private readonly files: Record<string, string>,
    /** Gets each process that has stopped. */
    private readonly stopped: (board: Board) => void = () => undefined,
  ) {}

  /** Throws if none runs now. */
  get any(): Board {
    const running = this.live.filter((board) => board !== this.leaving);
    if (running.length === 0) throw new Error('no process runs');
    return running[this.random.between(0, running.length - 1)]!;
  }

  async startAll(config: string): Promise<void> {
    for (let place = 0; place < Fleet.SIZE; place += 1) await this.start(config, place);
  }

  /** Interrupts the executions that it runs. */
  async restart(config: string, place = this.random.between(0, this.live.length - 1)): Promise<void> {
    const board = this.live[place]!;
    this.leaving = board;
    await board.close();
    this.stopped(board);
    await this.start(config, place);
    this.leaving = undefined;
  }

  /** One after the other gets this configuration, as when it is rolled out. */
  async replaceAll(config: string): Promise<void> {
    for (let place = 0; place < Fleet.SIZE; place += 1) await this.restart(config, place);
  }

  /**
   * Some of what any process runs loses its lease, as if the process had died, although its agent continues. A lease
   * without renewal is what the death of a process leaves.
   */
  loseLeases(): Promise<void> {
    // Otherwise it could be in a deadlock with transactions of the service.
    const locking = TEST_DATABASE === 'postgres' ? 'for update skip locked' : '';
    const some = `select id from executions where state = 'running' and seq % 2 = ${this.random.between(0, 1)} ${locking}`;
    return change(this.any, `update executions set lease_owner = 'gone', lease_until = 0 where id in (${some})`);
  }

  async remove(): Promise<void> {
    await Promise.all(this.live.map((board) => board.close()));
    await this.live[0]?.app.database.drop();
    this.folder.remove();
  }

  private async start(config: string, place: number): Promise<void> {
    this.live[place] = await Board.start(config, {
      folder: this.folder.path,
      files: this.files,
      settings: { shutdownGraceMs: 0, leaseMs: 3_000 },
    });
  }
}
