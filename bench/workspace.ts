import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { killAll } from './children.ts';

/**
 * Runs a bench with a separate folder; afterwards, in any case, the folder is deleted and every started process has
 * ended.
 */
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
