import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { killAll } from './children.ts';

/** Runs a bench with a folder of its own; afterwards, however it ended, the folder and every process that was started are gone. */
export async function inWorkspace(bench: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'starling-bench-'));
  const cleanUp = (): void => {
    killAll();
    rmSync(folder, { recursive: true, force: true });
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      cleanUp();
      process.exit(1);
    });
  }
  try {
    await bench(folder);
  } finally {
    cleanUp();
  }
}
