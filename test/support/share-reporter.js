import { relative } from 'node:path';

/**
 * What a run in shares says as each ends: what its tests printed, a line each, and then its failures. Jest's own reporter puts a stack
 * below every line that a test prints, and the failures of a share below all of that, where they are not found.
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
