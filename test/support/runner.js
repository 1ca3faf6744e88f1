import LightRunner from 'jest-light-runner/child-process';

/**
 * With one worker (`--runInBand`), runs each suite in a separate process. The package would run them in Jest's process, all
 * with the setup of the first project: then suites of the project `postgres` would use SQLite.
 */
export default class Runner extends LightRunner {
  constructor(globalConfig, ...rest) {
    // It starts processes only for several workers.
    super({ ...globalConfig, maxWorkers: Math.max(globalConfig.maxWorkers, 2) }, ...rest);
    this.isInBand = globalConfig.maxWorkers === 1;
    const keepWorkerData = new URL('keep-worker-data.js', import.meta.url);
    process.env.NODE_OPTIONS = `${process.env.NODE_OPTIONS ?? ''} --import ${keepWorkerData}`;
  }

  async runTests(tests, ...rest) {
    if (!this.isInBand) return super.runTests(tests, ...rest);
    for (const test of tests) await super.runTests([test], ...rest);
  }
}
