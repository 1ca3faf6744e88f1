import { jsonField, type Rows } from '../support/database.js';
import { CALL } from './agents.js';

/** In tokens, for each correlation. */
export const BUDGET = 600;

/** The tokens that have been used and that running calls may use, of each correlation in which they exceed a number. */
export const OVERSPENT = `
  select id, sum(tokens) as tokens from (
    select correlation_id as id, input_tokens + output_tokens as tokens from usage
    union all
    select correlation_id, tokens from budget_reservations where waits = 0)
  group by id having sum(tokens) > ?`;

/** Checks that each topic has its essay or, if no call had room in the budget any more, its end. All work has ended. */
export async function budgetBreaches(rows: Rows, acknowledged: ReadonlySet<number>): Promise<string[]> {
  const left = await rows<{ execution_id: string }>('select execution_id from budget_reservations');
  return [
    ...(await budgetsDuringWork(rows, acknowledged)),
    ...left.map(({ execution_id: id }) => `execution ${id} still has a reservation`),
  ];
}

/**
 * Checks the same while work is left, also after a crash, for the topics whose execution has ended, and what has been used. Only
 * at the end have all of them ended without a reservation: those of the dropped process remain after a crash.
 */
export async function budgetsDuringWork(rows: Rows, acknowledged: ReadonlySet<number>): Promise<string[]> {
  const topics = await rows<{ n: string; essays: number }>(
    `select ${jsonField('t.payload', 'n')} as n, (select count(*) from artifacts e
       where e.type = 'Essay' and ${jsonField('e.payload', 'n')} = ${jsonField('t.payload', 'n')}) as essays
     from artifacts t where type = 'Topic'`,
  );
  const executions = await rows<{
    id: string;
    n: string;
    state: string;
    error_type: string | null;
    used: number;
    ended: number;
  }>(
    `select e.id, ${jsonField('a.payload', 'n')} as n, e.state, e.error_type,
       (select sum(input_tokens + output_tokens) from usage u where u.correlation_id = e.correlation_id) as used,
       (select count(*) from executions o where o.correlation_id = e.correlation_id and o.error_type = 'budget') as ended
     from executions e join execution_inputs i on i.execution_id = e.id join artifacts a on a.seq = i.artifact_seq
     where e.agent = 'writer'`,
  );
  const sums = await rows<{ id: string }>(
    `select id from correlations c where input_tokens + output_tokens
       <> (select coalesce(sum(u.input_tokens + u.output_tokens), 0) from usage u where u.correlation_id = c.id)`,
  );
  const overspent = await rows<{ id: string; tokens: number }>(OVERSPENT.replace('?', String(BUDGET)));
  const orphans = await rows<{ execution_id: string }>(
    `select execution_id from budget_reservations where execution_id not in
       (select id from executions where state in ('pending', 'running'))`,
  );
  const stored = new Set(topics.map(({ n }) => Number(n)));
  const byTopic = Map.groupBy(executions, ({ n }) => n);
  return [
    ...[...acknowledged].filter((n) => !stored.has(n)).map((n) => `topic ${n} was acknowledged and is lost`),
    ...topics.flatMap(({ n, essays }) => {
      const [one, ...others] = byTopic.get(n) ?? [];
      if (!one || others.length > 0) return [`topic ${n} has ${others.length + (one ? 1 : 0)} executions`];
      const due = one.state === 'completed' ? 1 : 0;
      const isOpen = one.state === 'pending' || one.state === 'running';
      // The first execution without room fails, and the others of the correlation are cancelled.
      const isShort =
        (one.error_type === 'budget' || (one.state === 'cancelled' && one.ended === 1)) &&
        one.used > BUDGET - CALL.inputTokens - CALL.outputTokens;
      return essays === due && (due === 1 || isOpen || isShort)
        ? []
        : [`topic ${n} is ${one.state} (${one.error_type}) with ${essays} essays, after ${one.used} tokens`];
    }),
    ...sums.map(({ id }) => `the tokens of ${id} are not the sum of its calls`),
    ...overspent.map(({ id, tokens }) => `${id} has used and reserved ${tokens} tokens, which is over its budget`),
    ...orphans.map(({ execution_id: id }) => `execution ${id} has ended, and still has a reservation`),
  ];
}
