import { stat } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';

/** Files are looked at this often. Watching them by the system would miss changes on network file systems and in containers. */
const INTERVAL_MS = 200;

/** Finds out when files change. */
export class FileChanges {
  private known = new Map<string, string>();

  /** Adds a file as it is now. It need not exist. */
  async follow(file: string): Promise<void> {
    if (this.known.has(file)) return;
    const state = await stateOf(file);
    if (!this.known.has(file)) this.known.set(file, state);
  }

  /** Resolves with the changed files, when these have then stayed the same for a moment. */
  async next(): Promise<string[]> {
    let before = this.known;
    for (;;) {
      await delay(INTERVAL_MS);
      const now = await statesOf([...this.known.keys()]);
      const changed = differing(this.known, now);
      // Many editors and tools write a file in several steps, and many files one after the other.
      if (changed.length > 0 && differing(before, now).length === 0) {
        this.known = now;
        return changed;
      }
      before = now;
    }
  }
}

const differing = (one: ReadonlyMap<string, string>, other: ReadonlyMap<string, string>): string[] =>
  [...one].filter(([file, state]) => other.get(file) !== state).map(([file]) => file);

const statesOf = async (files: readonly string[]): Promise<Map<string, string>> =>
  new Map(await Promise.all(files.map(async (file) => [file, await stateOf(file)] as const)));

async function stateOf(file: string): Promise<string> {
  try {
    const { mtimeMs, size, ino } = await stat(file);
    return `${mtimeMs} ${size} ${ino}`;
  } catch {
    return 'missing';
  }
}
