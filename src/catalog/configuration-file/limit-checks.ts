import type { AgentOptions, ConfigurationOptions, LimitOptions, Remaining } from '../agent-options.js';
import type { Path, Report } from '../diagnostics.js';
import { ANY, defineLimit, findRateProblem, type Limit, limitFor, type LimitUse } from '../limits.js';
import { meant } from '../unknown-names.js';
import { checkValue } from './agent-checks.js';
import { type Expected, KEY, unitsWithin } from './expected-values.js';

/** The limits of the file, and the key of each, by their names. */
export interface LimitsInFile {
  limits: ReadonlyMap<string, Limit>;
  keys: ReadonlyMap<string, string | null>;
}

export function limitsInFile(configuration: Remaining<ConfigurationOptions>, report: Report): LimitsInFile {
  const named = Object.entries(configuration.limits ?? {}).map(([name, options = {}]) => ({ name, options }));
  for (const { name, options } of named) {
    if (name.slice(0, -ANY.length).includes(ANY))
      report.errors.add(['limits', name], `may have ${ANY} only at its end`);
    checkLimit(name, options, report);
  }
  return {
    limits: new Map(named.map(({ name, options }) => [name, defineLimit(name, options)])),
    keys: new Map(named.map(({ name, options }) => [name, options.key ?? null])),
  };
}

/** Says what `units` of the limit must give. */
export const expectedUnits = (name: string, limit: Remaining<LimitOptions>): Expected =>
  unitsWithin(defineLimit(name, limit).rate?.burst ?? null);

function checkLimit(limitName: string, limit: Remaining<LimitOptions>, report: Report): void {
  const { concurrency, rate, burst, units, hold, key } = limit;
  const path: Path = ['limits', limitName];
  const { errors } = report;
  checkValue(key, KEY, [...path, 'key'], report);
  checkValue(units, expectedUnits(limitName, limit), [...path, 'units'], report);
  if (hold === true && concurrency === undefined && !errors.touches([...path, 'concurrency']))
    errors.add([...path, 'hold'], 'counts for concurrency only; add concurrency, or remove hold');
  const rateProblem = rate === undefined ? null : findRateProblem(rate);
  if (rateProblem !== null) errors.add([...path, 'rate'], rateProblem);
  if (rate !== undefined || errors.touches([...path, 'rate'])) return;
  for (const [name, value] of Object.entries({ burst, units }))
    if (value !== undefined) errors.add([...path, name], `counts for a rate only; add rate, or remove ${name}`);
}

/** Finds limits of an agent that the file does not have or that it names twice, and keys that do not compile. */
export function checkLimitUses(
  uses: Remaining<AgentOptions>['limits'],
  known: ReadonlyMap<string, unknown>,
  path: Path,
  report: Report,
): void {
  /** The limit → the name by which the agent takes part in it. */
  const seen = new Map<string, string>();
  const names = [...known.keys()].map((name) => ({ name }));
  for (const [index, use] of (uses ?? []).entries()) {
    const name = typeof use === 'string' ? use : use?.name;
    if (name === undefined) continue;
    const at = typeof use === 'string' ? [...path, index] : [...path, index, 'name'];
    const limit = limitFor(name, known.keys());
    // An error in all limits, or in this one, is the cause.
    if (limit === undefined && !report.errors.has(['limits']) && !report.errors.touches(['limits', name]))
      report.errors.add(at, `limits has no ${name}${meant(name, names) ?? ''}`);
    const earlier = seen.get(limit ?? name);
    if (earlier === name) report.errors.add(at, `${name} is named twice; keep one`);
    else if (earlier !== undefined)
      report.errors.add(at, `${name} is the limit ${limit}, and so is ${earlier}; keep one`);
    seen.set(limit ?? name, name);
    if (typeof use === 'object') checkValue(use.key, KEY, [...path, index, 'key'], report);
  }
}

/** Warns of limits that limit nothing, because no agent takes part in them. */
export function warnOfUnusedLimits(
  limits: ReadonlyMap<string, unknown>,
  agents: readonly { limits: readonly LimitUse[] }[],
  { warnings }: Report,
): void {
  const used = new Set(agents.flatMap(({ limits: uses }) => uses.map(({ name }) => name)));
  for (const name of limits.keys())
    if (!used.has(name))
      warnings.add(['limits', name], 'no agent takes part in it; name it in the limits of an agent, or remove it');
}
