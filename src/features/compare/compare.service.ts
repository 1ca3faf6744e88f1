import { Injectable } from '@nestjs/common';

import { findCorrelation } from '../../blackboard/correlations/correlation-rows.js';
import { DomainError } from '../../common/domain-error.js';
import { notFromEarlierPage, partsOf } from '../../common/page-cursor.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { nextPage } from '../../http/dto/page.js';
import type { Cascade } from './cascade.js';
import { CascadesRepository } from './cascades.repository.js';
import { ComparedExecutions } from './compared-executions.repository.js';
import { agentBodies, correlationBody, pairBody } from './comparison.js';
import type { CompareQuery } from './dto/compare-query.js';
import { type ComparisonBody, MOST_ARTIFACTS } from './dto/comparison-body.js';
import { type Pair, pairsOf } from './pairs.js';
import { PayloadComparison } from './payload-comparison.js';

@Injectable()
export class CompareService {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly cascades: CascadesRepository,
    private readonly executions: ComparedExecutions,
    private readonly payloads: PayloadComparison,
  ) {}

  /** Throws DomainError `not_found`, `invalid` if `after` is not from an earlier page, or `unavailable`. */
  async compare({ left, right, limit, after }: CompareQuery): Promise<ComparisonBody> {
    const start = after === undefined ? 0 : startOf(after);
    const { reader } = this.unitOfWork;
    const [one, other] = [await this.sideOf(left), await this.sideOf(right)];
    const pairs = pairsOf(one.cascade, other.cascade);
    const end = start + limit;
    return {
      left: one.body,
      right: other.body,
      agents: agentBodies(await this.executions.totals(reader, left), await this.executions.totals(reader, right)),
      paired: pairs.filter((pair) => pair.left && pair.right).length,
      only_left: pairs.filter((pair) => !pair.right).length,
      only_right: pairs.filter((pair) => !pair.left).length,
      items: await this.bodiesOf(pairs.slice(start, end)),
      pagination: nextPage(limit, after, end < pairs.length ? [end] : null),
    };
  }

  private async sideOf(id: string): Promise<{ body: ComparisonBody['left']; cascade: Cascade }> {
    const { reader } = this.unitOfWork;
    const correlation = await findCorrelation(reader, id);
    if (!correlation) throw new DomainError('not_found', `Correlation not found: ${id}`);
    const found = await this.cascades.find(reader, id, MOST_ARTIFACTS + 1);
    const artifacts = found.artifacts.slice(0, MOST_ARTIFACTS);
    return {
      body: correlationBody(correlation, artifacts.length < found.artifacts.length),
      cascade: { ...found, artifacts },
    };
  }

  private async bodiesOf(pairs: readonly Pair[]): Promise<ComparisonBody['items']> {
    const ids = pairs.flatMap(({ left, right }) => [left, right]).flatMap((artifact) => artifact?.execution_id ?? []);
    const rows = await this.executions.find(this.unitOfWork.reader, [...new Set(ids)]);
    const executions = new Map(rows.map((row) => [row.id, row]));
    const bodies: ComparisonBody['items'] = [];
    for (const pair of pairs) {
      const { left, right } = pair;
      const changes = left && right && (await this.payloads.of(left.seq, right.seq));
      // Retention has deleted one of them meanwhile.
      if (left && right && !changes) continue;
      bodies.push(pairBody(pair, changes, executions));
    }
    return bodies;
  }
}

function startOf(after: string): number {
  const [start] = partsOf(after, ['number']);
  if (start < 1) throw notFromEarlierPage(after);
  return start;
}
