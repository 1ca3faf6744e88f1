import { checkExpression, expressionWarnings } from '../../cel/language/expression-check.js';
import type { Remaining, SubscriptionOptions } from '../agent-options.js';
import type { Diagnostics, Path, Report } from '../diagnostics.js';
import { checkDuration } from './duration-checks.js';

type Checked = Remaining<SubscriptionOptions>;

/** Finds problems that the schema of a subscription cannot express: invalid expressions and conflicting parts. */
export function checkSubscription(subscription: Checked, path: Path, report: Report): void {
  const { errors } = report;
  checkSource(subscription.where, [...path, 'where'], report);
  checkSource(subscription.join?.by, [...path, 'join', 'by'], report);
  checkDuration(subscription.join?.within, [...path, 'join', 'within'], errors);
  checkDuration(subscription.batch?.timeout, [...path, 'batch', 'timeout'], errors);
  checkJoin(subscription, path, errors);
  checkBatch(subscription, path, errors);
}

function checkSource(source: string | undefined, path: Path, { errors, warnings }: Report): void {
  if (source === undefined) return;
  const problem = checkExpression(source);
  if (problem !== null) errors.add(path, problem);
  else for (const warning of expressionWarnings(source)) warnings.add(path, warning);
}

function checkJoin({ join, types, mode, batch }: Checked, path: Path, errors: Diagnostics): void {
  if (!join) return;
  const at = [...path, 'join'];
  if (batch) errors.add(at, 'a subscription has a join or a batch window, not both');
  else if (mode === 'any') errors.add(at, 'mode any takes each artifact separately; a join needs mode all');
  else if (types?.length === 1) errors.add(at, 'a join needs at least two types');
}

function checkBatch({ join, types, mode, batch }: Checked, path: Path, errors: Diagnostics): void {
  if (!batch || join || mode === 'any' || (types?.length ?? 0) < 2) return;
  errors.add([...path, 'batch'], 'a batch window over several types needs mode any, because mode all joins them');
}
