import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

// Runs the script as a separate process, as Node strips its types, on the whole test.csv.
describe('the support desk classifier', () => {
  it('names at least 85 % of the intents in test.csv', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, ['examples/support-desk/accuracy.ts']);

    expect(numberIn(stdout, /^right: \d+ of (\d+)$/m)).toBe(3_080);
    expect(numberIn(stdout, /^accuracy: ([\d.]+) %$/m)).toBeGreaterThanOrEqual(85);
  });
});

const numberIn = (output: string, pattern: RegExp): number => Number(pattern.exec(output)?.[1]);
