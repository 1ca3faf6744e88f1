import type { DatabaseSync } from 'node:sqlite';

import type { Rows } from '../support/database.js';
import type { Repeats } from './repeats.js';

type Known = Pick<Repeats, 'sent' | 'replays' | 'experiments'>;

/** Query for what has changed in a correlation after a replay of it has begun, or in a trial that had ended. */
export const CHANGED_ORIGINALS = 'select id, what from changed_originals';

/** Makes a database note each change of an original, and of a trial that has ended. */
export function noteChangedOriginals(connection: DatabaseSync): void {
  connection.exec(`
    create table originals (id text primary key);
    create table changed_originals (id text, what text);
    create trigger note_original after insert on correlations when new.origin is not null
      begin insert or ignore into originals values (new.origin); end;
    create trigger note_original_state after update on correlations
      when exists (select 1 from originals where id = new.id) and
        (old.state, old.generation, old.pending, old.artifact_count) <> (new.state, new.generation, new.pending, new.artifact_count)
      begin insert into changed_originals values (new.id, 'its state or its counts'); end;
    create trigger note_original_artifact after insert on artifacts
      when exists (select 1 from originals where id = new.correlation_id)
      begin insert into changed_originals values (new.correlation_id, 'its artifacts'); end;
    create trigger note_original_execution after insert on executions
      when exists (select 1 from originals where id = new.correlation_id)
      begin insert into changed_originals values (new.correlation_id, 'its executions'); end;
    create trigger note_ended_trial after update on experiment_trials when old.state = 'ended'
      begin insert into changed_originals values (new.correlation_id, 'the trial, which had ended'); end;`);
}

/** The correlations in which judges work, each with that of its trial. */
const JUDGES = `select json_extract(score.value, '$.judged_in') as id, correlation_id as trial
  from experiment_trials, json_each(coalesce(scores, '[]')) score where json_extract(score.value, '$.judged_in') is not null`;
const IS_JUDGE = `c.id in (select id from (${JUDGES}))`;
/** Every agent is as it was. */
const IS_UNCHANGED = `c.replay_mode <> 'full' and coalesce(c.replay_options, '') not like '%overrides%' and not ${IS_JUDGE}`;

/** Query for the correlations of trials, and of their judges, that are active although their trial has ended. */
export const ACTIVE_AFTER_TRIAL = `
  select c.id from correlations c where state = 'active' and origin is not null and (
    exists (select 1 from experiment_trials t where t.correlation_id = c.id and t.state = 'ended') or
    exists (select 1 from experiment_trials t join (${JUDGES}) j on j.trial = t.correlation_id
      where j.id = c.id and t.state = 'ended'))`;

/** Checks replays, and experiments, whose trials and judges are replays, when all work has ended. */
export const repeatBreaches = async (rows: Rows, known: Known): Promise<string[]> => [
  ...(await repeatsDuringWork(rows, known)),
  ...(await unequal(rows)),
  ...(await unended(rows)),
];

/** Checks the same while work is left, also after a crash. Only at the end is it known what each replay has resulted in. */
export const repeatsDuringWork = async (rows: Rows, { sent, replays, experiments }: Known): Promise<string[]> => {
  const repeated = await rows<{ id: string; origin: string; mode: string; isOfExperiment: number }>(
    `select c.id, origin, replay_mode as mode, (${IS_JUDGE} and origin in (select trial from (${JUDGES}) j where j.id = c.id))
       or exists (select 1 from experiment_trials t where t.correlation_id = c.id) as isOfExperiment
     from correlations c where origin is not null`,
  );
  const visible = await rows<{ id: string }>(`select id from experiments where state not in ('importing', 'removed')`);
  const stored = new Map(repeated.map(({ id, origin, mode }) => [id, `${origin} ${mode}`]));
  const ids = new Set(visible.map(({ id }) => id));
  return [
    ...[...replays]
      .filter(([id, { origin, mode }]) => stored.get(id) !== `${origin} ${mode}`)
      .map(([id, { origin }]) => `the replay ${id} of ${origin} was acknowledged and is ${stored.get(id) ?? 'lost'}`),
    ...[...experiments].filter((id) => !ids.has(id)).map((id) => `experiment ${id} was acknowledged and is lost`),
    ...repeated
      .filter(({ id, isOfExperiment }) => !sent.has(id) && isOfExperiment === 0)
      .map(({ id, origin }) => `${id} repeats ${origin}, and nothing has asked for it`),
    ...(await wrongCounts(rows)),
    ...(await mixed(rows)),
  ];
};

/** Finds experiments whose counts are not those of their trials. */
async function wrongCounts(rows: Rows): Promise<string[]> {
  const trials = 'select count(*) from experiment_trials t where t.experiment_seq = e.seq';
  const counts = await rows<{ id: string; is: string; due: string }>(
    `select id, next_trial || ' ' || open_trials || ' ' || ended_trials || ' ' || failed_trials as "is",
       (${trials}) || ' ' || (${trials} and state <> 'ended') || ' ' || (${trials} and state = 'ended') || ' ' ||
       (${trials} and state = 'ended' and error is not null) as due
     from experiments e where state <> 'removed'`,
  );
  return counts
    .filter(({ is, due }) => is !== due)
    .map(({ id, is, due }) => `experiment ${id} counts ${is} trials, and has ${due}`);
}

/** Finds what replays share with live work or with each other, and what ran although it is on record. */
async function mixed(rows: Rows): Promise<string[]> {
  const inputs = await rows<{ id: string; input: string }>(
    `select e.id, a.id as input from executions e
       join execution_inputs i on i.execution_id = e.id join artifacts a on a.seq = i.artifact_seq
     where (a.replay = 1 and a.correlation_id <> e.correlation_id) or (e.replay = 1 and a.replay = 0)`,
  );
  const ran = await rows<{ id: string; agent: string }>(
    `select e.id, e.agent from executions e join correlations c on c.id = e.correlation_id
     where c.origin is not null and e.replay <> 2 and ${IS_UNCHANGED}`,
  );
  const owed = await rows<{ id: string }>(
    `select id from deliveries where correlation_id in (select id from correlations where origin is not null)`,
  );
  return [
    ...inputs.map(({ id, input }) => `execution ${id} has the input ${input}, which is apart from it`),
    ...ran.map(
      ({ id, agent }) => `execution ${id} of ${agent} is not answered from the record, and ${agent} is as it was`,
    ),
    ...owed.map(({ id }) => `delivery ${id} is that of a replay`),
  ];
}

/** Finds completed replays with other artifacts than their originals. Audits depend on what else has shipped. */
async function unequal(rows: Rows): Promise<string[]> {
  const completed = await rows<{ id: string; origin: string; isUnchanged: number; isJudge: number; mode: string }>(
    `select id, origin, replay_mode as mode, ${IS_UNCHANGED} as isUnchanged, ${IS_JUDGE} as isJudge
     from correlations c where origin is not null and state = 'completed'`,
  );
  const artifacts = await rows<{ id: string; type: string; payload: string }>(
    `select correlation_id as id, type, payload from artifacts`,
  );
  const byCorrelation = Map.groupBy(artifacts, ({ id }) => id);
  const made = (id: string, withPayload: boolean): string =>
    (byCorrelation.get(id) ?? [])
      .filter(({ type }) => withPayload || type !== 'Audit')
      .map(({ type, payload }) => (withPayload ? `${type} ${payload}` : type))
      .sort()
      .join();
  return completed.flatMap(({ id, origin, isUnchanged, isJudge, mode }) => {
    const is = made(id, isUnchanged === 1);
    const due = isJudge === 1 ? 'Case,Verdict' : made(origin, isUnchanged === 1);
    const audits = (byCorrelation.get(id) ?? []).filter(({ type }) => type === 'Audit').length;
    return [
      ...(is === due ? [] : [`the replay ${id} of ${origin} (${mode}) has ${is}, not ${due}`]),
      ...(audits > 1 || (mode === 'full' && audits === 0 && due.includes('Shipment'))
        ? [`the replay ${id} of ${origin} (${mode}) has ${audits} Audit`]
        : []),
    ];
  });
}

/** Returns the experiments that have work left, and those that have ended in another way than they should. */
export async function unended(rows: Rows): Promise<string[]> {
  const experiments = await rows<{
    id: string;
    state: string;
    open: number;
    ended: number;
    total: number;
    summary: string | null;
  }>(
    `select id, state, open_trials as open, ended_trials as ended, row_count * variants as total, summary
     from experiments where state not in ('importing', 'removed')`,
  );
  return experiments.flatMap(({ id, state, open, ended, total, summary }) => {
    if (state === 'running' || open > 0) return [`experiment ${id} is ${state} with ${open} open trials`];
    const { variants } = JSON.parse(summary!) as { variants: { trials: number }[] };
    const summed = variants.reduce((sum, { trials }) => sum + trials, 0);
    // Trials that ran when their experiment was cancelled end after its summary.
    const isWhole = state === 'completed' ? ended === total && summed === ended : summed <= ended;
    return isWhole && state !== 'failed'
      ? []
      : [`experiment ${id} is ${state} with ${ended} of ${total} trials, ${summed} of them in its summary`];
  });
}
