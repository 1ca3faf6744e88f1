import type { Command } from 'commander';

import { failing } from '../../failures.js';
import { collect, forPeople, LIMIT, withExamples } from '../command-options.js';

type Id = string | undefined;

const FROM = ['--from <time>', 'only those of this time or later: ISO 8601, UTC if no time zone is given'] as const;
const TO = ['--to <time>', 'only those of this time or earlier'] as const;
const REPLAY = ['--replay', 'also those of replays; with --correlation-id they are always listed'] as const;

/** Adds the commands that show what a running server has. */
export function addInspectCommands(program: Command): void {
  withExamples(
    forPeople(program.command('agents'))
      .description('list the agents of a running server, or show one')
      .argument('[name]', 'name of an agent')
      .action(failing(async (name: Id, options: object) => (await import('./agents.js')).showAgents(name, options))),
    ['agents', 'what each agent consumes and publishes, and what waits for it'],
    ['agents classifier', 'one agent with its settings and counts'],
  );

  withExamples(
    forPeople(program.command('artifacts'))
      .description('list artifacts, newest first, or show one with its payload')
      .argument('[id]', "an artifact's id")
      .option('--type <name>', 'only artifacts of this type (repeatable: any of them)', collect)
      .option('--produced-by <name>', 'only artifacts of this agent, or `external` (repeatable: any of them)', collect)
      .option('--correlation-id <id>', 'only artifacts of this correlation')
      .option('--tag <tag>', 'only artifacts with this tag (repeatable: all of them)', collect)
      .option(...FROM)
      .option(...TO)
      .option('--visibility <kind>', 'only artifacts of this visibility kind (repeatable: any of them)', collect)
      .option('--order <order>', '`desc` is newest first, `asc` oldest first (default: desc)')
      .option(...REPLAY)
      .option(...LIMIT)
      .action(failing(async (id: Id, options: object) => (await import('./artifacts.js')).showArtifacts(id, options))),
    ['artifacts --type Reply --limit 5', 'the newest five replies'],
    ['artifacts --type Reply | jq .payload', 'a pipe gets one JSON document on each line'],
  );

  withExamples(
    forPeople(program.command('executions'))
      .description('list executions, newest first, or show one with its attempts and its error')
      .argument('[id]', "an execution's id")
      .option('--state <state>', 'pending, running, completed, failed or cancelled')
      .option('--agent <name>', 'only executions of this agent')
      .option('--correlation-id <id>', 'only executions of this correlation')
      .option('--assignee <name>', 'only executions with this assignee')
      .option('--failure-group <group>', 'only failed executions of this group')
      .option('--without-agent', 'only executions that wait because no process has their agent')
      .option('--external', 'only executions of external agents that wait for a claim or are claimed')
      .option(...REPLAY)
      .option(...LIMIT)
      .action(
        failing(async (id: Id, options: object) => (await import('./executions.js')).showExecutions(id, options)),
      ),
    ['executions --state failed', 'what failed, with the errors'],
    ['executions --agent classifier', 'what one agent did'],
  );

  withExamples(
    forPeople(program.command('trace'))
      .description('draw the cascade of a correlation as a tree, with times and errors')
      .argument('<id>', 'id of a correlation, a run, an execution or an artifact')
      .option('--limit <n>', 'how many artifacts to show at most (default: 500)')
      .action(failing(async (id: string, options: object) => (await import('./draw-trace.js')).showTrace(id, options))),
    ['trace order-4711', 'all that followed in this correlation'],
  );

  withExamples(
    forPeople(program.command('compare'))
      .description('say what differs between two correlations: artifacts, payloads, durations, tokens, cost')
      .argument('<left>', 'id of a correlation, a run, an execution or an artifact')
      .argument('<right>', 'id of what to compare it with')
      .option('--limit <n>', 'how many pairs of artifacts to show at most (default: 500)')
      .action(
        failing(async (left: string, right: string, options: object) =>
          (await import('./compare.js')).compare(left, right, options),
        ),
      ),
    ['compare order-4711 order-4712', 'both cascades, artifact by artifact'],
  );

  withExamples(
    forPeople(program.command('explain'))
      .description('say for each subscription why it reacted to an artifact, or did not')
      .argument('<artifact>', "an artifact's id")
      .argument('[agent]', 'only the subscriptions of this agent')
      .action(
        failing(async (id: string, agent: Id, options: object) =>
          (await import('./explain.js')).explain(id, agent, options),
        ),
      ),
    ['explain 01a1ffed-b5d2-738c-bee6-f296bd753c2a', 'what each agent did with this artifact'],
    ['explain 01a1ffed-b5d2-738c-bee6-f296bd753c2a router', 'the same for one agent'],
  );

  withExamples(
    forPeople(program.command('waiting'))
      .description('list what waits: for artifacts, for people, for a process')
      .argument('[correlation]', 'only what this correlation waits for')
      .option(...LIMIT)
      .action(failing(async (id: Id, options: object) => (await import('./waiting.js')).showWaiting(id, options))),
    ['waiting', 'what waits for artifacts, for people or for a process'],
    ['waiting order-4711', 'what one correlation waits for'],
  );

  withExamples(
    forPeople(program.command('tail'))
      .description('print artifacts as they are published, one on each line, until Ctrl-C')
      .option('--type <name>', 'only artifacts of this type (repeatable: any of them)', collect)
      .option('--produced-by <name>', 'only artifacts of this agent, or `external` (repeatable: any of them)', collect)
      .option('--correlation-id <id>', 'only what belongs to this correlation (repeatable: any of them)', collect)
      .option('--live', 'also print live events about executions, runs, batches and correlations')
      .action(failing(async (options: object) => (await import('./follow-changelog.js')).tail(options))),
    ['tail --live', 'all that happens from now on'],
    ['tail --type Reply --type Escalation', 'artifacts of two types'],
  );
}
