import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import { builtProgram, PROGRAM_ENVIRONMENT } from '../support/built-program.js';

// Runs the examples' own tests as their readers do, with Node's test runner and the package as it is built.
describe('the tests of the examples', () => {
  it('pass', async () => {
    await builtProgram();
    const run = promisify(execFile)(process.execPath, ['--test', '--test-reporter=tap', 'examples/**/*.test.ts'], {
      env: PROGRAM_ENVIRONMENT,
    });
    const { stdout } = await run.catch((error: { stdout: string }) => Promise.reject(new Error(error.stdout)));
    expect(stdout).toMatch(/^# tests [1-9]/m);
    expect(stdout).toMatch(/^# skipped 0/m);
  });
});
