import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';

const ROOT = resolve(import.meta.dirname, '..');
/** Seeds that are drawn have 31 bits. */
const MOST = 2 ** 31;

function refuse(message: string): never {
  console.error(message);
  process.exit(1);
}

function readOptions(): { seeds?: string; seed?: string } {
  try {
    return parseArgs({ options: { seeds: { type: 'string' }, seed: { type: 'string' } } }).values;
  } catch (error) {
    return refuse(`${(error as Error).message}; give --seeds <number>, --seed <number>, or both`);
  }
}

function wholeNumber(name: string, text: string, least: number): string {
  if (/^\d+$/.test(text) && Number(text) >= least && Number(text) <= MOST) return text;
  return refuse(`--${name}: must be a whole number from ${least} to ${MOST} (got "${text}")`);
}

const { seed, seeds = seed === undefined ? '100' : '1' } = readOptions();
const { status } = spawnSync('npm', ['test', '--', 'test/simulation', '--runInBand'], {
  cwd: ROOT,
  stdio: 'inherit',
  env: {
    ...process.env,
    STARLING_TEST_DATABASE: 'sqlite',
    STARLING_SEED: 'random',
    STARLING_SIMULATION_SEEDS: wholeNumber('seeds', seeds, 1),
    STARLING_SIMULATION_SHRINK: '1',
    ...(seed !== undefined && { STARLING_SIMULATION_SEED: wholeNumber('seed', seed, 0) }),
  },
});
process.exit(status ?? 1);
