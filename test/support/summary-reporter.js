/** Ends the run with one plain line, `N passed, N failed, N skipped`, that a script can read. */
export default class SummaryReporter {
  onRunComplete(_contexts, results) {
    // A file that does not even load has no test that could fail.
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites;
    const skipped = results.numPendingTests + results.numTodoTests;
    // Jest prints its own summary after every reporter has had its turn.
    process.once('exit', () => console.log(`${results.numPassedTests} passed, ${failed} failed, ${skipped} skipped`));
  }
}
