import { relative } from 'node:path';

/**
 * Reports each share when it finishes: the output of its tests, one line each, and then its failures. Jest's own reporter
 * prints a stack below every line of output, and the failures of a share below all of that, where they are easy to miss.
 */
export default class ShareReporter {
  onTestResult(test, result) {
    const failed = result.numFailingTests > 0 || result.testExecError;
    console.log(
      `${failed ? 'FAIL' : 'PASS'} ${test.context.config.displayName.name} ${relative('', test.path)} (${(result.perfStats.runtime / 1_000).toFixed(0)} s)`,
    );
    for (const { message } of result.console ?? []) console.log(message.replaceAll(/^/gm, '    '));
    if (failed) console.log(result.failureMessage);
  }
}
