import { Injectable } from '@nestjs/common';

import { Catalog } from '../../catalog/catalog.js';
import type { BreakerRule } from '../../catalog/definitions.js';
import { breakerName, type Limit, type LimitUse } from '../../catalog/limits.js';
import { ExpressionEvaluator, type ExpressionVariables } from '../../cel/evaluator.js';
import type { JsonValue } from '../../common/json.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import type { AgentArtifact } from '../../engines/engine.js';
import { effectiveLimits } from './effective-limits.js';
import { inputView } from './input-view.js';
import { findKeyProblem, type QueueProblem } from './queue-values.js';

/** A limit or a breaker that an execution takes part in. `key` is null if all executions share it. `units`: the cost of an attempt. */
export type LimitKey = [limit: string, key: string | number | boolean | null, units: number];

/** Computes the limits and breakers of executions, with their keys, in the form of `executions.limit_keys`. */
@Injectable()
export class LimitKeys {
  /** Agents whose limits need no expression. */
  private readonly constant: ReadonlyMap<string, string | null>;

  constructor(
    private readonly catalog: Catalog,
    private readonly evaluator: ExpressionEvaluator,
    private readonly unitOfWork: UnitOfWork,
  ) {
    this.constant = new Map(
      catalog.agents
        .filter(({ limits, breaker }) => (breaker?.key ?? null) === null && limits.every((use) => this.isConstant(use)))
        .map(({ name, limits, breaker }) => [
          name,
          textOf(
            [...(breaker ? [breakerName(name)] : []), ...limits.map((use) => use.name)].map((each) => [each, null, 1]),
          ),
        ]),
    );
  }

  /** Null if the agent has no limits. Undefined if its keys depend on the inputs. */
  withoutInputs(agent: string): string | null | undefined {
    return this.constant.has(agent) ? this.constant.get(agent)! : undefined;
  }

  /** Evaluates the expressions. `problem`: why the execution cannot run. Call it before a transaction. */
  async of(
    agent: string,
    inputs: AgentArtifact[],
    batch: boolean,
  ): Promise<{ keys: string | null } | { problem: QueueProblem }> {
    const known = this.withoutInputs(agent);
    if (known !== undefined) return { keys: known };
    const variables = { payload: inputView(inputs, batch), artifact: inputs[0]!, inputs };
    const { limits, breaker } = this.catalog.agent(agent)!;
    const ofBreaker = breaker ? await this.breakerKey(agent, breaker, variables) : [];
    if ('problem' in ofBreaker) return ofBreaker;
    const keys: LimitKey[] = ofBreaker;
    const counted = await this.counted(limits);
    for (const use of limits) {
      const limit = counted.get(use.name) ?? this.limitOf(use);
      const key = use.key === null ? null : await this.evaluate(use.key, variables);
      const units = limit.units === null ? 1 : await this.evaluate(limit.units, variables);
      const problem = keyProblem(use, key) ?? unitsProblem(limit, units);
      if (problem !== null) return { problem: { type: 'limit_key', message: `limit ${use.name}: ${problem}` } };
      keys.push([use.name, key as LimitKey[1], units as number]);
    }
    return { keys: textOf(keys) };
  }

  private async breakerKey(
    agent: string,
    rule: BreakerRule,
    variables: ExpressionVariables,
  ): Promise<LimitKey[] | { problem: QueueProblem }> {
    const key = rule.key === null ? null : await this.evaluate(rule.key, variables);
    const problem = keyProblem(rule, key);
    if (problem !== null) return { problem: { type: 'breaker_key', message: `breaker: ${problem}` } };
    return [[breakerName(agent), key as LimitKey[1], 1]];
  }

  private isConstant(use: LimitUse): boolean {
    return use.key === null && this.limitOf(use).units === null;
  }

  /** The limits with `units`, with the bursts that clients have set. The database is asked only if there are some. */
  private async counted(uses: readonly LimitUse[]): Promise<ReadonlyMap<string, Limit>> {
    const counted = uses.filter((use) => this.limitOf(use).units !== null);
    if (counted.length === 0) return new Map();
    const names = counted.map(({ name }) => name);
    return effectiveLimits(this.unitOfWork.reader, this.catalog, names);
  }

  private limitOf({ name }: LimitUse): Limit {
    return this.catalog.limits.get(name)!;
  }

  private async evaluate(source: string, variables: ExpressionVariables): Promise<JsonValue | Failure> {
    const result = await this.evaluator.evaluate(source, variables);
    return result.ok ? result.value : new Failure(result.error);
  }
}

const textOf = (keys: readonly LimitKey[]): string | null => (keys.length === 0 ? null : JSON.stringify(keys));

class Failure {
  constructor(readonly message: string) {}
}

function keyProblem({ key: source }: Pick<LimitUse, 'key'>, key: JsonValue | Failure): string | null {
  if (source === null) return null;
  if (key instanceof Failure) return `its key fails: ${key.message}`;
  const problem = findKeyProblem(key);
  return problem === null ? null : `its key ${problem}`;
}

function unitsProblem({ rate, units: source }: Limit, units: JsonValue | Failure): string | null {
  if (source === null) return null;
  if (units instanceof Failure) return `its units fail: ${units.message}`;
  if (typeof units !== 'number' || !(units >= 0)) return 'its units must give a number that is not negative';
  return rate && units > rate.burst ? `it costs ${units} units, and its burst is ${rate.burst}` : null;
}
