import { constantResult } from '../../cel/language/constant-result.js';
import { checkExpression, expressionWarnings } from '../../cel/language/expression-check.js';
import type { ExpressionFinding } from '../../cel/language/syntax-tree.js';
import { typed } from '../../cel/types/type-check.js';
import { isJsonObject } from '../../common/json.js';
import { parseDuration } from '../../common/units.js';
import type { AgentOptions, OutputOptions, Remaining, SubscriptionOptions } from '../agent-options.js';
import { EXTERNAL, SCHEDULE, WORKFLOW_ERROR } from '../definitions.js';
import type { Diagnostics, Path, Report } from '../diagnostics.js';
import { findTtlProblem, findVisibilityProblem, toVisibility } from '../parse-visibility.js';
import { checkDuration } from './duration-keys.js';
import { CACHE_KEY, type Expected, KEY, PRIORITY, valueProblem, WEIGHT, WINDOW_KEY } from './expected-values.js';

/** Finds problems that the schema of an agent cannot express. `maxTtlMs` is null if the settings are invalid. */
export function checkAgent(
  options: Remaining<AgentOptions>,
  maxTtlMs: number | null,
  path: Path,
  report: Report,
): void {
  for (const [index, subscription] of (options.consumes ?? []).entries()) {
    if (subscription) checkSubscription(subscription, [...path, 'consumes', index], report);
  }
  const { errors } = report;
  checkOutputs(options.publishes ?? [], maxTtlMs, [...path, 'publishes'], errors);
  checkDuration(options.timeout, [...path, 'timeout'], errors);
  checkRetry(options.retry ?? {}, [...path, 'retry'], errors);
  checkFairness(options, path, report);
  checkValue(options.cancel_on?.key, KEY, [...path, 'cancel_on', 'key'], report);
  checkCache(options, path, report);
  checkValue(options.singleton?.key, KEY, [...path, 'singleton', 'key'], report);
  checkValue(options.breaker?.key, KEY, [...path, 'breaker', 'key'], report);
  checkDuration(options.breaker?.open, [...path, 'breaker', 'open'], errors);
}

/** Refuses names that clients or the service use as producer, and names of other agents. */
export function checkAgentName(name: string, taken: ReadonlySet<string>, path: Path, errors: Diagnostics): void {
  if (name === SCHEDULE) errors.add(path, `${SCHEDULE} is reserved for schedules; choose another name`);
  if (name === EXTERNAL) errors.add(path, `${EXTERNAL} is reserved for clients; choose another name`);
  if (taken.has(name)) errors.add(path, `another agent already has the name ${name}; choose another name`);
}

function checkOutputs(
  outputs: (Remaining<OutputOptions> | undefined)[],
  maxTtlMs: number | null,
  path: Path,
  errors: Diagnostics,
): void {
  const seen = new Set<string>();
  for (const [index, output] of outputs.entries()) {
    if (output?.type === undefined) continue;
    const { type, visibility } = output;
    if (seen.has(type)) errors.add([...path, index, 'type'], `${type} is published twice; keep one`);
    if (type === WORKFLOW_ERROR)
      errors.add([...path, index, 'type'], `only the service publishes ${WORKFLOW_ERROR}; throw an error instead`);
    seen.add(type);
    checkVisibility(visibility, maxTtlMs, [...path, index, 'visibility'], errors);
  }
}

/**
 * Applies the same rules as to visibilities of clients and agents. If the schema found a problem, this check would only
 * repeat it.
 */
function checkVisibility(visibility: unknown, maxTtlMs: number | null, path: Path, errors: Diagnostics): void {
  if (!isJsonObject(visibility) || errors.touches(path)) return;
  const error =
    findVisibilityProblem(visibility) ??
    (maxTtlMs === null ? null : findTtlProblem(toVisibility(visibility), maxTtlMs));
  if (error) errors.add([...path, ...error.path], error.message);
}

function checkRetry(retry: NonNullable<Remaining<AgentOptions>['retry']>, path: Path, errors: Diagnostics): void {
  checkDuration(retry.delay, [...path, 'delay'], errors, { zero: true });
  checkDuration(retry.max_delay, [...path, 'max_delay'], errors, { zero: true });
  const delay = parseDuration(retry.delay ?? '1s');
  const longest = retry.max_delay === undefined ? null : parseDuration(retry.max_delay);
  if (delay !== null && longest !== null && longest < delay)
    errors.add([...path, 'max_delay'], 'must not be shorter than delay (default 1s)');
}

function checkCache({ cache }: Remaining<AgentOptions>, path: Path, report: Report): void {
  checkValue(cache?.key, CACHE_KEY, [...path, 'cache', 'key'], report);
  checkDuration(cache?.for, [...path, 'cache', 'for'], report.errors);
}

function checkFairness(options: Remaining<AgentOptions>, path: Path, report: Report): void {
  const { fair_by, weight, max_share } = options;
  checkValue(fair_by, KEY, [...path, 'fair_by'], report);
  checkValue(weight, WEIGHT, [...path, 'weight'], report);
  if (fair_by !== undefined || report.errors.touches([...path, 'fair_by'])) return;
  for (const [name, value] of Object.entries({ weight, max_share }))
    if (value !== undefined)
      report.errors.add([...path, name], `counts for the keys of fair_by only; add fair_by, or remove ${name}`);
}

type Checked = Remaining<SubscriptionOptions>;

/** Finds problems that the schema of a subscription cannot express: invalid expressions and conflicting parts. */
function checkSubscription(subscription: Checked, path: Path, report: Report): void {
  const { errors } = report;
  checkSource(subscription.where, [...path, 'where'], report);
  warnOfConstant(subscription.where, [...path, 'where'], report);
  if (typeof subscription.priority === 'string')
    checkValue(subscription.priority, PRIORITY, [...path, 'priority'], report);
  checkValue(subscription.join?.by, WINDOW_KEY, [...path, 'join', 'by'], report);
  checkDuration(subscription.join?.within, [...path, 'join', 'within'], errors);
  checkValue(subscription.batch?.key, WINDOW_KEY, [...path, 'batch', 'key'], report);
  checkDuration(subscription.batch?.timeout, [...path, 'batch', 'timeout'], errors);
  checkValue(subscription.debounce?.key, WINDOW_KEY, [...path, 'debounce', 'key'], report);
  checkJoin(subscription, path, errors);
  checkBatch(subscription, path, errors);
  checkDebounce(subscription, path, errors);
}

/** Finds a `where` that no artifact can pass. It is only a warning, because an agent with it still runs if a caller names it. */
function warnOfConstant(where: string | undefined, path: Path, { errors, warnings }: Report): void {
  if (where === undefined || errors.touches(path)) return;
  const result = constantResult(where);
  if (result === null || (result.ok && result.value !== false)) return;
  const why = result.ok ? 'always gives false' : `always fails: ${result.error}`;
  warnings.add(path, `${why}, so no artifact matches this subscription`, { offset: 0 });
}

export function checkSource(source: string | undefined, path: Path, { errors, warnings }: Report): void {
  if (source === undefined) return;
  const problem = checkExpression(source);
  if (problem !== null) addFinding(problem, path, errors);
  else for (const warning of expressionWarnings(source)) addFinding(warning, path, warnings);
}

/** Also finds an expression that gives nothing `expected`, whatever its variables are. */
export function checkValue(source: string | undefined, expected: Expected, path: Path, report: Report): void {
  checkSource(source, path, report);
  if (source === undefined || report.errors.touches(path)) return;
  const message = valueProblem(source, typed(source, new Map()), expected);
  if (message !== null) report.errors.add(path, message, { offset: 0 });
}

const addFinding = ({ message, offset }: ExpressionFinding, path: Path, diagnostics: Diagnostics): void =>
  diagnostics.add(path, message, offset === undefined ? undefined : { offset });

function checkJoin({ join, types, mode, batch, debounce }: Checked, path: Path, errors: Diagnostics): void {
  if (!join) return;
  const at = [...path, 'join'];
  if (debounce) errors.add(at, 'a subscription has a join or debounce, not both');
  else if (batch) errors.add(at, 'a subscription has a join or a batch window, not both');
  else if (mode === 'any') errors.add(at, 'mode any takes each artifact separately; a join needs mode all');
  else if (types?.length === 1) errors.add(at, 'a join needs at least two types');
}

function checkBatch({ join, types, mode, batch }: Checked, path: Path, errors: Diagnostics): void {
  if (!batch || join || mode === 'any' || (types?.length ?? 0) < 2) return;
  errors.add([...path, 'batch'], 'a batch window over several types needs mode any, because mode all joins them');
}

function checkDebounce({ join, types, mode, batch, debounce }: Checked, path: Path, errors: Diagnostics): void {
  if (!debounce) return;
  const at = [...path, 'debounce'];
  checkDuration(debounce.wait, [...at, 'wait'], errors);
  checkDuration(debounce.at_most, [...at, 'at_most'], errors);
  const [wait, longest] = [debounce.wait, debounce.at_most].map((given) =>
    given === undefined ? null : parseDuration(given),
  );
  if (wait != null && longest != null && longest < wait)
    errors.add([...at, 'at_most'], 'must not be shorter than wait');
  if (batch) errors.add(at, 'a subscription has a batch window or debounce, not both');
  else if (!join && mode !== 'any' && (types?.length ?? 0) > 1)
    errors.add(at, 'debounce over several types needs mode any, because mode all joins them');
}
