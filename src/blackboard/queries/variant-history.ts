import { Injectable } from '@nestjs/common';

import type { AgentDefinition } from '../../catalog/definitions.js';
import { BASE } from '../../catalog/variants.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { findLastOf, sumUsageOf } from './variant-rows.js';

/** Executions of each variant that are compared. */
export const MOST_EXECUTIONS = 1_000;

/** The last executions of a variant of an agent. */
export interface HistoryOfVariant {
  /** That of the variant, or `base`. */
  name: string;
  executions: number;
  failures: number;
  /** Durations of their last attempts. Null without executions. */
  duration_ms: { p50: number; p95: number; p99: number } | null;
  usage: Awaited<ReturnType<typeof sumUsageOf>>;
}

/** Compares the variants of an agent: their failures, durations and costs. */
@Injectable()
export class VariantHistory {
  constructor(private readonly unitOfWork: UnitOfWork) {}

  /** The agent's own options first. Empty, without a query, if the agent has no variants. */
  async of({ name: agent, variants }: AgentDefinition): Promise<HistoryOfVariant[]> {
    if (!variants) return [];
    const histories: HistoryOfVariant[] = [];
    // One after the other, so that a request does not take all connections to the database.
    for (const name of [BASE, ...variants.all.map((variant) => variant.name)])
      histories.push(await this.historyOf(agent, name));
    return histories;
  }

  private async historyOf(agent: string, name: string): Promise<HistoryOfVariant> {
    const { reader } = this.unitOfWork;
    const last = await findLastOf(reader, agent, name, MOST_EXECUTIONS);
    const durations = last
      .flatMap(({ attempt_started_at: start, ended_at }) => (start === null ? [] : [ended_at - start]))
      .sort((one, other) => one - other);
    return {
      name,
      executions: last.length,
      failures: last.filter(({ state }) => state === 'failed').length,
      duration_ms: quantilesOf(durations),
      usage: await sumUsageOf(reader, agent, name, MOST_EXECUTIONS),
    };
  }
}

/** Each is the smallest value that is not below this share of them. */
function quantilesOf(sorted: readonly number[]): HistoryOfVariant['duration_ms'] {
  const at = (share: number): number => sorted[Math.ceil(sorted.length * share) - 1]!;
  return sorted.length === 0 ? null : { p50: at(0.5), p95: at(0.95), p99: at(0.99) };
}
