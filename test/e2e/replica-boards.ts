import { SchedulerRegistry } from '@nestjs/schedule';

import type { Role } from '../../src/common/role.js';
import type { TestAppOptions } from '../support/app.js';
import { ConfigurationFolder } from '../support/configuration-folder.js';
import { Board } from './board.js';

export const SERVER: Role = { api: true, worker: false };
/** Also answers requests, so that a test can query it. */
export const WORKER: Role = { api: true, worker: true };

/**
 * Apps on one database. Each has its own connections, wake-ups, leases and, unless a test shares one, clock: to the
 * database and to each other they are separate processes. They share memory, in which agents can record their work.
 */
export class Replicas {
  private readonly folder = new ConfigurationFolder();
  private readonly boards: Board[] = [];
  private readonly running: Board[] = [];

  /** Has no grace period, which would not end on a clock that stands still. */
  async start(config: string, { settings, ...options }: TestAppOptions = {}): Promise<Board> {
    const board = await Board.start(config, {
      folder: this.folder.path,
      settings: { shutdownGraceMs: 0, ...settings },
      ...options,
    });
    this.boards.push(board);
    this.running.push(board);
    return board;
  }

  /** Stops these apps, or all, and leaves the database as it is. */
  async stop(...boards: Board[]): Promise<void> {
    const leaving = boards.length === 0 ? [...this.running] : boards;
    await Promise.all(leaving.map((board) => this.stopOne(board)));
  }

  async close(): Promise<void> {
    await this.stop();
    await this.boards[0]?.app.database.drop();
    this.folder.remove();
  }

  private async stopOne(board: Board): Promise<void> {
    this.running.splice(this.running.indexOf(board), 1);
    await board.close();
  }
}

/** Turns off an app's polling, so that only wake-ups start its work. */
export function withoutPolling(board: Board): Board {
  const schedule = board.app.app.get(SchedulerRegistry, { strict: false });
  for (const name of schedule.getIntervals()) schedule.deleteInterval(name);
  return board;
}
