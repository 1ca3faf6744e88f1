import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** A folder with a configuration file and its modules, deleted after the test. */
export class ConfigurationFolder {
  readonly path = mkdtempSync(join(tmpdir(), 'starling-configuration-'));

  /** Writes one file and returns its path. */
  write(name: string, text: string): string {
    const path = join(this.path, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    return path;
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}
