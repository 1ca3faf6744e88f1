import { readLog } from '../flow/execution-log.js';
import { unfair } from '../flow/fair-model.js';
import { type Gathered, type GatheredInput, wronglyGathered, wronglyGiven } from '../flow/gather-model.js';
import { jsonField, type Rows } from '../support/database.js';
import { FLOW_AGENTS, FLOW_TYPES, LARGEST_BALE } from './flow-agents.js';
import type { Flows } from './flows.js';

interface Execution {
  id: string;
  seq: number;
  agent: string;
  state: string;
  correlation: string;
  cancelled_by: string | null;
  skipped_for: string | null;
  superseded_by: string | null;
  cached_from: string | null;
  handled: number;
  /** Its first input. */
  input: string;
  key: string;
  position: number;
}

interface Recall {
  id: string;
  key: string;
  position: number;
}

/**
 * Checks, when all work has ended, that what was acknowledged has one execution, and that a rule says why for each execution
 * that was cancelled or took the answer of another one. Whether a rule had its effect on all that it applies to is not
 * checked, because the order in which an artifact was stored and an execution ended is not known.
 */
export async function flowBreaches(rows: Rows, { sent, acknowledged, fair }: Flows): Promise<string[]> {
  const agents = Object.keys(FLOW_AGENTS).map((name) => `'${name}'`);
  const executions = await rows<Execution>(
    `select e.id, e.seq, e.agent, e.state, e.correlation_id as correlation, e.cancelled_by, e.skipped_for,
       e.superseded_by, e.cached_from, a.id as input, a.seq as position, ${jsonField('a.payload', 'key')} as key,
       (select count(*) from artifacts h where h.correlation_id = e.correlation_id and h.type = 'Handled') as handled
     from executions e join execution_inputs i on i.execution_id = e.id join artifacts a on a.seq = i.artifact_seq
     where e.agent in (${agents.join()}) and i.position = 0 order by e.seq`,
  );
  const inputs = await rows<GatheredInput>(
    `select e.id, e.agent, ${jsonField('a.payload', 'key')} as key, a.correlation_id as correlation
     from executions e join execution_inputs i on i.execution_id = e.id join artifacts a on a.seq = i.artifact_seq
     where e.agent in (${agents.join()})`,
  );
  const recalls = await rows<Recall>(
    `select id, seq as position, ${jsonField('payload', 'key')} as key from artifacts where type = 'Recall'`,
  );
  const requests = await rows<{ id: string }>('select id from cancel_requests');
  const found = new Found(executions, recalls);
  return [
    ...wronglyGiven(
      inputs,
      [...acknowledged].filter((id) => sent.has(id)),
    ),
    ...wronglyGathered(inputs, gatheredBy),
    ...executions.flatMap((execution) => found.breaches(execution)),
    ...requests.map(({ id }) => `the request ${id} to cancel is left over`),
    ...unfair(await readLog(rows), fair),
  ];
}

function gatheredBy(agent: string): Gathered {
  const count = FLOW_TYPES[agent]!.length;
  return { least: count, most: agent === 'baler' ? LARGEST_BALE : count };
}

/** All executions of the agents, and the artifacts that call some off. */
class Found {
  private readonly ofKey: ReadonlyMap<string, Execution[]>;

  constructor(
    executions: readonly Execution[],
    private readonly recalls: readonly Recall[],
  ) {
    this.ofKey = Map.groupBy(executions, groupOf);
  }

  breaches(one: Execution): string[] {
    const due = one.state === 'completed' ? 1 : 0;
    return [
      ...(one.handled === due ? [] : [`${one.correlation} is ${one.state} with ${one.handled} Handled`]),
      ...(one.state === 'completed' || (one.state === 'cancelled' && this.mayBeCancelled(one))
        ? []
        : [`${one.correlation} is ${one.state}, and no rule says why: ${JSON.stringify(one)}`]),
      ...(one.cached_from === null || this.gave(one) ? [] : [`${one.correlation} has the answer of another key`]),
    ];
  }

  private mayBeCancelled(one: Execution): boolean {
    const { singleton, cancel_on, consumes } = FLOW_AGENTS[one.agent]!;
    const others = this.ofKey.get(groupOf(one))!;
    const later = others.filter(({ seq }) => seq > one.seq);
    return (
      (singleton?.on_conflict === 'skip' && others.some(({ id, seq }) => id === one.skipped_for && seq < one.seq)) ||
      (singleton?.on_conflict === 'cancel_running' && later.some(({ input }) => input === one.cancelled_by)) ||
      (consumes[0]!.debounce !== undefined && later.some(({ input }) => input === one.superseded_by)) ||
      (cancel_on !== undefined &&
        this.recalls.some(
          ({ id, key, position }) => id === one.cancelled_by && key === one.key && position > one.position,
        ))
    );
  }

  private gave({ cached_from: giver, ...one }: Execution): boolean {
    return (
      one.agent === 'translator' &&
      this.ofKey
        .get(groupOf(one))!
        .some(({ id, state, seq }) => id === giver && state === 'completed' && seq !== one.seq)
    );
  }
}

const groupOf = ({ agent, key }: Pick<Execution, 'agent' | 'key'>): string => `${agent} ${key}`;
