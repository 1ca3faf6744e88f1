import { readConfiguration } from './configuration.js';
import { describeFailure } from './failures.js';

/** Prints the errors that `serve` would report for this file, and the warnings. Sets the exit code. */
export async function check(file: string): Promise<void> {
  try {
    const { warnings } = await readConfiguration(file, {});
    for (const warning of warnings) console.log(`warning: ${warning}`);
    console.log(`${file}: ok`);
  } catch (error) {
    console.log(describeFailure(error));
    process.exitCode = 1;
  }
}
