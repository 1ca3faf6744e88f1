import { Injectable } from '@nestjs/common';

import type { SchedulerLock } from '../../blackboard/processes/scheduler-locks.repository.js';
import { ExpressionEvaluator } from '../../cel/evaluator.js';
import { newId } from '../../common/ids.js';
import type { JsonValue } from '../../common/json.js';
import { shown } from '../../common/short-text.js';
import { type Definition, needsExpected, type Scorer } from './definition.js';
import { valueAt } from './json-pointer.js';
import { contains, cost, equals, failedScore, latency, type Score, scoreOf } from './score.js';
import type { Contents } from './trial-contents.js';

/** The time and the model usage of a trial. */
export interface Spent {
  duration_ms: number | null;
  input_tokens: number;
  output_tokens: number;
  cost: number | null;
}

/** Scores trials. A scorer that fails for a row fails for this row alone. */
@Injectable()
export class Scoring {
  constructor(private readonly expressions: ExpressionEvaluator) {}

  /**
   * Returns a score for each scorer. That of a judge names the correlation in which it will work. DomainError
   * `unavailable` if an expression cannot be evaluated now.
   */
  async of(definition: Definition, contents: Contents, spent: Spent, lock: SchedulerLock): Promise<Score[]> {
    const scores: Score[] = [];
    for (const scorer of definition.scorers) {
      // Each expression may take a second.
      await lock.keep();
      scores.push(
        needsExpected(scorer) && contents.expected === undefined
          ? failedScore(withoutExpected(definition))
          : await this.one(definition, scorer, contents, spent),
      );
    }
    return scores;
  }

  private async one(definition: Definition, scorer: Scorer, contents: Contents, spent: Spent): Promise<Score> {
    const { kind, path = '', expression } = scorer;
    const { output } = contents;
    switch (kind) {
      case 'equals':
      case 'contains': {
        const expected = expectedAt(definition, path, contents.expected!);
        if (expected === undefined)
          return failedScore(
            `the ${shown(definition.output)} of the original has nothing at "${path}" to compare with`,
          );
        return kind === 'equals' ? equals(output, path, expected) : contains(output, path, expected);
      }
      case 'latency':
        return latency(output, spent.duration_ms);
      case 'cost':
        return cost(spent);
      case 'judge':
        return output === null
          ? failedScore('the variant published no output to judge')
          : { score: null, judged_in: newId() };
      case 'cel':
        return this.evaluated(expression!, contents);
    }
  }

  private async evaluated(expression: string, { input, output, expected = null }: Contents): Promise<Score> {
    const result = await this.expressions.evaluate(expression, { input, output, expected });
    return result.ok ? scoreOf(result.value) : failedScore(result.error);
  }
}

/** A recorded output has the form of the output, so the path leads into both. */
const expectedAt = ({ expected }: Definition, path: string, value: JsonValue): JsonValue | undefined =>
  expected && 'recorded' in expected ? valueAt(value, path) : value;

const withoutExpected = ({ expected, output }: Definition): string =>
  expected && 'recorded' in expected
    ? `the original has no ${shown(output)} to compare with; retention may have deleted it`
    : 'the row has no expected value';
