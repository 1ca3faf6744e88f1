import { Injectable } from '@nestjs/common';

import { Catalog } from '../../catalog/catalog.js';
import { Diagnostics, type Path } from '../../catalog/diagnostics.js';
import type { ReplayChanges } from '../../catalog/overrides.js';
import type { ReplayConfiguration } from '../../catalog/replay-configuration.js';
import { meant, unknownType } from '../../catalog/unknown-names.js';
import { checkExpression } from '../../cel/language/expression-check.js';
import { SCORER_VARIABLES } from '../../cel/language/variable-uses.js';
import { yieldToEventLoop } from '../../common/event-loop.js';
import type { JsonObject } from '../../common/json.js';
import { listed } from '../../common/names-in-messages.js';
import { shown } from '../../common/short-text.js';
import { withinTime } from '../../common/time-limit.js';
import type { ReplayMode } from '../../database/schema.js';
import { effectOf } from '../../engines/effects.js';
import { parseTimestamp, TIMESTAMP_RULE } from '../../http/validation/query.js';
import { refuse } from '../../http/validation/refuse.js';
import { RequestedChanges } from '../replays/requested-changes.js';
import {
  type DataSet,
  type Definition,
  type Expected,
  needsExpected,
  type Scorer,
  type Variant,
} from './definition.js';
import { type Form, formOf, type GivenData } from './definition-form.js';
import { DEFAULT_MODE, type ExperimentRequest } from './dto/experiment-request.js';

const KINDS = ['csv', 'batch', 'artifacts', 'correlations'] as const;
const OF_CSV = ['agent', 'delimiter'] as const;
const LONGEST_CHECK_MS = 1_000;

/** Checks what a new experiment should do, before anything of it is stored. */
@Injectable()
export class DefinitionChecks {
  constructor(
    private readonly catalog: Catalog,
    private readonly changes: RequestedChanges,
  ) {}

  /** Throws DomainError `invalid`, which names the first problems. */
  async check(request: ExperimentRequest): Promise<{ definition: Definition; data: GivenData }> {
    const { data, expected, variants, scorers } = formOf(request);
    const { mode = DEFAULT_MODE } = request;
    const problems = new Diagnostics();
    const isCsv = data.csv !== undefined;
    this.checkData(data, mode, problems);
    this.checkExpected(expected, isCsv, problems);
    this.checkVariants(variants, { isCsv, mode }, problems);
    for (const [index, scorer] of scorers.entries()) {
      // To compile a long expression takes 100 ms.
      await yieldToEventLoop();
      this.checkScorer(scorer, { hasExpected: expected !== null, mode }, ['scorers', index], problems);
    }
    refuseRepeated(variants, 'variants', problems);
    refuseRepeated(scorers, 'scorers', problems);
    if (!this.catalog.type(request.output)) problems.add(['output'], unknownType(request.output, this.catalog));
    const definition = await this.definition(request, { data, expected, variants, scorers }, problems);
    refuse(problems);
    return { definition, data };
  }

  private checkData(data: GivenData, mode: ReplayMode, problems: Diagnostics): void {
    const given = KINDS.filter((name) => data[name] !== undefined);
    if (given.length !== 1) problems.add(['data'], `must have one of ${listed(KINDS, 'and')} (got ${given.length})`);
    const isCsv = data.csv !== undefined;
    for (const name of OF_CSV)
      if (data[name] !== undefined && !isCsv) problems.add(['data', name], 'is only for a csv; remove it');
    if (isCsv && data.agent === undefined) problems.add(['data', 'agent'], 'is required with csv');
    if (data.agent !== undefined) this.checkAgent(data.agent, mode, ['data', 'agent'], problems);
    const { type, from, to } = data.artifacts ?? {};
    if (type !== undefined && !this.catalog.type(type))
      problems.add(['data', 'artifacts', 'type'], unknownType(type, this.catalog));
    for (const [name, time] of Object.entries({ from, to }))
      if (time !== undefined && parseTimestamp(time) === undefined)
        problems.add(['data', 'artifacts', name], `is not a time; ${TIMESTAMP_RULE}`);
  }

  private checkExpected(expected: Expected | null, isCsv: boolean, problems: Diagnostics): void {
    if (expected === null) return;
    if ('column' in expected && !isCsv)
      problems.add(['expected', 'column'], 'is only for a csv; give path or recorded');
    if ('recorded' in expected && isCsv)
      problems.add(['expected', 'recorded'], 'needs originals, which a csv has not; give column or path');
  }

  private checkVariants(
    variants: readonly Variant[],
    { isCsv, mode }: { isCsv: boolean; mode: ReplayMode },
    problems: Diagnostics,
  ): void {
    for (const [index, { agent, configuration }] of variants.entries()) {
      if (agent === undefined) continue;
      const path = ['variants', index, 'agent'];
      // Another configuration decides which effects it has; see `checkRun`.
      if (isCsv) this.checkAgent(agent, configuration === undefined ? mode : null, path, problems);
      else problems.add(path, 'is only for a csv; a replay begins as its original did');
    }
  }

  private checkScorer(
    scorer: Scorer,
    { hasExpected, mode }: { hasExpected: boolean; mode: ReplayMode },
    path: Path,
    problems: Diagnostics,
  ): void {
    const { kind, expression, agent } = scorer;
    if (needsExpected(scorer) && !hasExpected)
      problems.add(path, `${kind} compares with the expected value; give expected in the request`);
    const [needed] = kind === 'cel' ? ['expression' as const] : kind === 'judge' ? ['agent' as const] : [];
    if (needed !== undefined && scorer[needed] === undefined)
      problems.add([...path, needed], `is required with ${kind}`);
    for (const name of ['expression', 'agent'] as const)
      if (scorer[name] !== undefined && name !== needed) problems.add([...path, name], `is not for ${kind}; remove it`);
    if (scorer.path !== undefined && !needsExpected(scorer) && kind !== 'judge')
      problems.add([...path, 'path'], `is not for ${kind}; remove it`);
    if (kind === 'cel' && expression !== undefined) checkCel(expression, [...path, 'expression'], problems);
    if (kind === 'judge' && agent !== undefined) this.checkJudge(agent, mode, [...path, 'agent'], problems);
  }

  private checkJudge(name: string, mode: ReplayMode, path: Path, problems: Diagnostics): void {
    this.checkAgent(name, mode, path, problems);
    const agent = this.catalog.agent(name);
    if (agent && !agent.subscriptions.some(({ types }) => types.length === 1))
      problems.add(path, `${name} consumes no single type; a judge gets one artifact with input, output and expected`);
  }

  /** Checks the name of an agent that runs. `mode`: null if its effects are checked elsewhere. */
  private checkAgent(name: string, mode: ReplayMode | null, path: Path, problems: Diagnostics): void {
    const agent = this.catalog.agent(name);
    if (!agent) problems.add(path, `no agent has the name ${shown(name)}${meant(name, this.catalog.agents) ?? ''}`);
    const effect = agent && mode === 'shadow' ? effectOf(agent) : null;
    if (effect !== null)
      problems.add(path, `${name} does not run with mode shadow, because ${effect}; use another mode`);
  }

  private async definition(
    { output, mode = DEFAULT_MODE, seed = 1 }: ExperimentRequest,
    { data, expected, variants, scorers }: Form,
    problems: Diagnostics,
  ): Promise<Definition> {
    const checked: Variant[] = [];
    const digests: Record<string, string> = {};
    for (const [index, variant] of variants.entries()) {
      const { name, agent } = variant;
      const { configuration, overrides } = await this.checkedChanges(variant, mode, ['variants', index], problems);
      const run = agent ?? data.agent;
      if (configuration !== null && run !== undefined)
        this.checkRun(run, configuration, mode, ['variants', index, 'configuration'], problems);
      if (configuration?.digest) digests[configuration.name] = configuration.digest;
      checked.push({
        name,
        ...(agent !== undefined && { agent }),
        ...(configuration !== null && { configuration: configuration.name }),
        ...(overrides && { overrides }),
      });
    }
    const configurations = Object.keys(digests).length > 0 ? { configurations: digests } : {};
    return { data: dataSetOf(data), expected, output, mode, variants: checked, ...configurations, scorers, seed };
  }

  /** Checks the agent that runs the rows of a CSV, which may have effects only in this configuration. */
  private checkRun(
    name: string,
    configuration: ReplayConfiguration,
    mode: ReplayMode,
    path: Path,
    problems: Diagnostics,
  ): void {
    const agent = this.catalog.forReplay(name, configuration).agent(name);
    const effect = agent && mode === 'shadow' ? effectOf(agent) : null;
    if (effect !== null)
      problems.add(path, `${name} does not run with mode shadow, because ${effect} there; use another mode`);
  }

  private async checkedChanges(
    { configuration, overrides }: Variant,
    mode: ReplayMode,
    path: Path,
    problems: Diagnostics,
  ): Promise<ReplayChanges> {
    try {
      return await this.changes.check(
        { configuration, overrides: overrides as JsonObject | undefined },
        mode,
        problems,
        path,
      );
    } catch (error) {
      // Another process would refuse the request because of these problems, too.
      refuse(problems);
      throw error;
    }
  }
}

function dataSetOf({ csv, agent, batch, artifacts }: GivenData): DataSet {
  if (csv !== undefined) return { kind: 'csv', agent: agent! };
  if (batch !== undefined) return { kind: 'batch', batch };
  return artifacts ? { kind: 'artifacts', artifacts } : { kind: 'correlations' };
}

function checkCel(expression: string, path: Path, problems: Diagnostics): void {
  const checked = withinTime(LONGEST_CHECK_MS, () => checkExpression(expression, SCORER_VARIABLES));
  if (!checked) return problems.add(path, 'takes too long to check; make it simpler');
  const { message, offset } = checked.result ?? {};
  if (message !== undefined) problems.add(path, offset ? `${message} (at character ${offset + 1})` : message);
}

function refuseRepeated(named: readonly { name: string }[], list: string, problems: Diagnostics): void {
  for (const [index, { name }] of named.entries())
    if (named.findIndex((other) => other.name === name) < index)
      problems.add([list, index, 'name'], `${shown(name)} is the name of another one; give each its own`);
}
