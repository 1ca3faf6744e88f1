import type { SqliteDatabase } from '../../src/database/dialects/sqlite-database.js';
import type { MachineTime } from './seeded-scheduler.js';

/** How long after a full disk the service may still report its effects. */
const REPORTED_WITHIN_MS = 5_000;
const NO_LIMIT = 2 ** 30;

/** A disk that may have no room for a time. Other steps, and losses of power, happen in this time too. */
export class FullDisk {
  /** In time of the machine; null while there is room. */
  private roomAt: number | null = null;
  private excusedUntil = 0;

  constructor(private readonly machine: MachineTime) {}

  /** True if errors in the log may come from it. */
  get excuses(): boolean {
    return this.roomAt !== null || this.machine.elapsed <= this.excusedUntil;
  }

  /** For `ms`, the database's file may grow by so many pages only. */
  fill({ connection }: SqliteDatabase, pages: number, ms: number): void {
    const { page_count: count } = connection.prepare('PRAGMA page_count').get() as { page_count: number };
    connection.exec(`PRAGMA max_page_count = ${count + pages}`);
    this.roomAt = this.machine.elapsed + ms;
  }

  /** Call it after each turn. */
  makeRoomInTime({ connection }: SqliteDatabase): void {
    if (this.roomAt === null || this.machine.elapsed < this.roomAt) return;
    connection.exec(`PRAGMA max_page_count = ${NO_LIMIT}`);
    this.roomAt = null;
    this.excusedUntil = this.machine.elapsed + REPORTED_WITHIN_MS;
  }

  /** There is room before the service starts again. */
  restart(): void {
    this.roomAt = null;
    this.excusedUntil = 0;
  }
}
