import { CatalogError } from '../catalog/diagnostics.js';
import { DomainError } from '../common/domain-error.js';
import { SettingsError } from '../config/resolve-settings.js';
import { StartError } from '../database/start-error.js';
import { ClientError } from './client/client-errors.js';
import { oneLine } from './client/printing/safe-text.js';

/** Errors that an operator can fix. All others are bugs, which are printed with their stack. */
const FOR_THE_OPERATOR = [CatalogError, SettingsError, StartError, DomainError];

/** Wraps a command so that a failure is printed to standard error and ends the process with exit code 1. */
export function failing<A extends unknown[]>(command: (...args: A) => Promise<void>): (...args: A) => Promise<void> {
  return async (...args) => {
    try {
      await command(...args);
    } catch (error) {
      console.error(describeFailure(error));
      process.exit(1);
    }
  };
}

export function describeFailure(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(describeFailure).join('\n');
  // The message of a server can quote texts of others.
  if (error instanceof ClientError) return oneLine(error.message);
  if (FOR_THE_OPERATOR.some((kind) => error instanceof kind)) return (error as Error).message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
