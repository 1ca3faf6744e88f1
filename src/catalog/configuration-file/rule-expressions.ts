import type { AgentOptions, LimitOptions, Remaining } from '../agent-options.js';
import type { Path } from '../diagnostics.js';
import { limitFor } from '../limits.js';
import { CACHE_KEY, type Expected, KEY, WEIGHT } from './expected-values.js';
import { expectedUnits } from './limit-checks.js';

/** An expression of an agent's rule over the inputs of an execution. */
export interface RuleExpression {
  /** The path in the agent. */
  below: Path;
  source: string;
  expected: Expected;
  /** The path of the expression of a limit in the file. Absent if the agent has the expression. */
  limit?: Path;
}

/** The keys and numbers that are computed for each execution of an agent, except those of its subscriptions. */
export function ruleExpressions(
  { cache, singleton, breaker, fair_by, weight, limits: uses }: Remaining<AgentOptions>,
  limits: Remaining<Record<string, LimitOptions>>,
): RuleExpression[] {
  const own = [
    { below: ['cache', 'key'], source: cache?.key, expected: CACHE_KEY },
    { below: ['singleton', 'key'], source: singleton?.key, expected: KEY },
    { below: ['breaker', 'key'], source: breaker?.key, expected: KEY },
    { below: ['fair_by'], source: fair_by, expected: KEY },
    { below: ['weight'], source: weight, expected: WEIGHT },
  ];
  const ofLimits = (uses ?? []).flatMap((use, index) => {
    const { name, key } = typeof use === 'string' ? { name: use, key: undefined } : (use ?? {});
    const limit = name === undefined ? undefined : limitFor(name, Object.keys(limits));
    const below = ['limits', index];
    const inFile = limit === undefined ? {} : (limits[limit] ?? {});
    const inFileAt = (of: string): Path => ['limits', limit ?? '', of];
    return [
      key === undefined
        ? { below, source: inFile.key, expected: KEY, limit: inFileAt('key') }
        : { below: [...below, 'key'], source: key, expected: KEY },
      { below, source: inFile.units, expected: expectedUnits(name ?? '', inFile), limit: inFileAt('units') },
    ];
  });
  return [...own, ...ofLimits].flatMap(({ source, ...place }) => (source === undefined ? [] : [{ ...place, source }]));
}
