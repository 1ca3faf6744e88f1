import LightRunner from 'jest-light-runner/child-process';

/**
 * Runs some suites in separate processes. With one worker (`--runInBand`), all of them: the package would run them in Jest's
 * process, all with the setup of the first project, so that suites of the project `postgres` would use SQLite.
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
    const apart = tests.filter((test) => this.isInBand || replacesScheduler(test));
    for (const test of apart) await super.runTests([test], ...rest);
    const others = tests.filter((test) => !apart.includes(test));
    if (others.length > 0) await super.runTests(others, ...rest);
  }
}

/** A timer that an earlier suite of its process left behind would take turns of a simulation, which then differs when it runs again. */
const replacesScheduler = ({ path }) => path.includes('/test/simulation/');
