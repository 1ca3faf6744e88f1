import { relative } from 'node:path';

const SLOWEST = 10;
/** A run of a few files tells nothing new about where the time goes. */
const MANY_SUITES = 20;

/** Ends the run with the suites that took longest, and with one plain line, `N passed, N failed, N skipped`, that a script can read. */
export default class SummaryReporter {
  onRunComplete(_contexts, results) {
    // A file that does not even load has no test that could fail.
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites;
    const skipped = results.numPendingTests + results.numTodoTests;
    const slowest = results.testResults.length < MANY_SUITES ? [] : slowestOf(results.testResults);
    // Jest prints its own summary after every reporter has had its turn.
    process.once('exit', () => console.log([...slowest, `${results.numPassedTests} passed, ${failed} failed, ${skipped} skipped`].join('\n')));
  }
}

const slowestOf = (suites) =>
  suites
    .toSorted((a, b) => b.perfStats.runtime - a.perfStats.runtime)
    .slice(0, SLOWEST)
    .map(({ perfStats, displayName, testFilePath }) => `${(perfStats.runtime / 1_000).toFixed(0).padStart(4)} s ${displayName.name} ${relative('', testFilePath)}`);
