import { relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

const SLOWEST = 15;
const LINES_OF_A_FAILURE = 12;
/** For a run of a few files, the list of the slowest specs is of no use. */
const MANY_TESTS = 300;

/**
 * Ends the run with the slowest specs, each failure in short, and one plain line, `N passed, N failed, N skipped`, that a
 * script can read.
 */
export default class SummaryReporter {
  onTestResult({ context }, result) {
    result.displayName ??= context.config.displayName;
  }

  onRunComplete(_contexts, results) {
    // A file that does not load has no test that could fail.
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites;
    const skipped = results.numPendingTests + results.numTodoTests;
    const slowest = results.numTotalTests < MANY_TESTS ? [] : slowestOf(results.testResults);
    const counts = `${results.numPassedTests} passed, ${failed} failed, ${skipped} skipped`;
    // Jest prints its own summary after it has called every reporter.
    process.once('exit', () => console.log([...slowest, ...failuresOf(results.testResults), counts].join('\n')));
  }
}

function slowestOf(files) {
  const times = files.map(({ displayName, testFilePath, perfStats }) => [
    `${displayName?.name} ${relative('test', testFilePath)}`,
    perfStats.end - perfStats.start,
  ]);
  const slowest = times.toSorted(([, a], [, b]) => b - a).slice(0, SLOWEST);
  return slowest.map(([name, milliseconds]) => `${(milliseconds / 1_000).toFixed(0).padStart(4)} s ${name}`);
}

function failuresOf(files) {
  return files.flatMap(({ displayName, testFilePath, testResults, testExecError, failureMessage }) => {
    // A file that does not load has no project.
    const where = [displayName?.name, relative('', testFilePath)].filter(Boolean).join(' ');
    if (testExecError) return [`FAILED ${where}`, shortened(failureMessage)];
    const failed = testResults.filter(({ status }) => status === 'failed');
    return failed.flatMap(({ ancestorTitles, title, failureMessages }) => [
      `FAILED ${where}: ${[...ancestorTitles, title].join(' ')}`,
      shortened(failureMessages.join('\n')),
    ]);
  });
}

const shortened = (message) =>
  stripVTControlCharacters(message).split('\n').slice(0, LINES_OF_A_FAILURE).join('\n').replaceAll(/^/gm, '    ');
