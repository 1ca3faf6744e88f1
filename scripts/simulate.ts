import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';

const ROOT = resolve(import.meta.dirname, '..');
const MOST = 2 ** 30;

const { values } = parseArgs({ options: { seeds: { type: 'string' }, seed: { type: 'string' } } });

/** Returns undefined if the option is not given. */
function wholeNumber(name: 'seeds' | 'seed'): string | undefined {
  const text = values[name];
  if (text !== undefined && !(/^\d+$/.test(text) && Number(text) <= MOST)) {
    console.error(`--${name}: must be a whole number from 0 to ${MOST} (got "${text}")`);
    process.exit(1);
  }
  return text;
}

const seed = wholeNumber('seed');
const seeds = wholeNumber('seeds') ?? (seed === undefined ? '100' : '1');
const { status } = spawnSync('npm', ['test', '--', 'test/simulation', '--runInBand'], {
  cwd: ROOT,
  stdio: 'inherit',
  env: {
    ...process.env,
    STARLING_TEST_DATABASE: 'sqlite',
    STARLING_SIMULATION_SEEDS: seeds,
    STARLING_SIMULATION_SHRINK: '1',
    ...(seed !== undefined && { STARLING_SIMULATION_SEED: seed }),
  },
});
process.exit(status ?? 1);
