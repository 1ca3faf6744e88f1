import type { Diagnostics } from '../../catalog/diagnostics.js';
import { DomainError } from '../../common/domain-error.js';

/** All problems are found, and so many are named. */
const MOST_NAMED = 5;

/** Throws DomainError `invalid` with the first problems, if there are any. */
export function refuse(problems: Diagnostics): void {
  if (problems.empty) return;
  const named = problems.toDiagnostics(() => undefined).slice(0, MOST_NAMED);
  throw new DomainError('invalid', named.map(({ path, message }) => `${path}: ${message}`).join('; '));
}
