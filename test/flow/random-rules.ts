import { breakerName, singletonName } from '../../src/catalog/limits.js';
import type { Random } from '../support/random.js';
import type { LimitFile, Rule, Values } from './limit-model.js';
import { limitOptions } from './limit-options.js';

/** Agents with limits alone, and one each with a rule beside them. */
export const LIMITED = ['a', 'b', 'c'] as const;
/** Agents with several rules, which differ in each round. */
export const MIXED = ['mixed_1', 'mixed_2', 'mixed_3'] as const;
/** Agents whose executions have several artifacts, by an expression for one of their payloads. */
const FIRST_PAYLOADS = { joiner: 'payload.For_joiner', packer: 'payload[0]' } as const;
const OTHERS = ['fair', 'sender', 'carrier', 'translator', 'urgent', 'single', 'skipper', 'renewer', 'last'] as const;
export const AGENTS = [...LIMITED, ...MIXED, ...OTHERS, 'joiner', 'packer', 'mover'] as const;
export type Agent = (typeof AGENTS)[number];

/** The rules of an agent that the models know. */
export interface FlowRules {
  /** The limits of the configuration in which it takes part. */
  limits: readonly string[];
  onConflict?: 'queue' | 'skip' | 'cancel_running';
  hasBreaker?: boolean;
  /** A `Recall` with the key cancels. */
  hasCancelOn?: boolean;
  hasDebounce?: boolean;
  /** An execution with the key, or the payload, of an earlier one takes its answer. */
  hasCache?: boolean;
  /** Tenants take turns. */
  isFair?: boolean;
  /** At most `LARGEST_SHARE` executions of a tenant may wait. */
  hasShare?: boolean;
  /** The priority is the urgency. */
  isRanked?: boolean;
  /** Executions run one at a time. */
  runsOne?: boolean;
}

/** `packer` takes so many artifacts together. */
export const LARGEST_PACK = 3;

/** So many executions of one tenant may wait, of the 100,000 that may wait in all. */
export const LARGEST_SHARE = 2;
const MAX_SHARE = LARGEST_SHARE / 100_000;

/** Its ticks publish work for `c`. */
export const SCHEDULE = 'steady';

const breakerOf = (agent: Agent): Rule => {
  return { name: breakerName(agent), concurrency: null, rate: null, hold: false, isKeyed: true };
};

/** An execution keeps its turn from its first start until it ends. */
const turnOf = (agent: Agent): Rule => {
  return { name: singletonName(agent), concurrency: 1, rate: null, hold: true, isKeyed: true, isOfAgent: true };
};

/** The `concurrency` of an agent whose executions run one at a time. */
const oneOf = (agent: Agent): Rule => {
  const isOf = { isOfAgent: true, isOfProcess: true };
  return { name: `one ${agent}`, concurrency: 1, rate: null, hold: false, isKeyed: false, ...isOf };
};

/** The rules of an agent that are like limits. */
const likeLimits = (agent: Agent, { hasBreaker, onConflict, runsOne }: FlowRules): Rule[] => [
  ...(hasBreaker ? [breakerOf(agent)] : []),
  ...(onConflict ? [turnOf(agent)] : []),
  ...(runsOne ? [oneOf(agent)] : []),
];

/** Longer than a round. */
const CACHED = '10m';

/** The longest time for which `debounce` lets an artifact wait. */
export const AT_MOST_MS = 400;
const DEBOUNCE = { key: 'payload.key', wait: '100ms', at_most: `${AT_MOST_MS}ms` };

/** Keys are numbers from 1 to this, which are also the units of their executions. */
export const KEYS = 3;

/** `units`: those of the rule. An execution that costs more than the burst would fail. */
export function valuesOf(random: Random, units: string | undefined): Values {
  const kind = random.between(0, 2);
  return {
    concurrency: kind === 1 ? null : random.between(1, 3),
    rate:
      kind === 0
        ? null
        : { perSecond: random.between(20, 200), burst: random.between(units === undefined ? 1 : KEYS, 5) },
  };
}

function ruleOf(random: Random, name: string): Rule {
  const units = random.between(0, 2) === 0 ? 'payload.key' : undefined;
  const values = valuesOf(random, units);
  const hold = values.concurrency !== null && random.between(0, 2) === 0;
  return { name, ...values, hold, isKeyed: random.between(0, 1) === 1, ...(values.rate && { units }) };
}

/** The same limit in another file. Its units stay, because work that waits has them. */
function changedRule(random: Random, rule: Rule, mayHaveKey: boolean): Rule {
  const values = valuesOf(random, rule.units);
  const { concurrency, rate } = rule.units !== undefined && values.rate === null ? rule : values;
  const hold = concurrency !== null && random.between(0, 2) === 0;
  return { ...rule, concurrency, rate, hold, isKeyed: mayHaveKey && random.between(0, 1) === 1 };
}

const isPattern = (limit: string): boolean => limit.endsWith('*');

function draw(random: Random, shared: readonly string[], limits: readonly Rule[]): Record<Agent, FlowRules> {
  const some = (): string[] => shared.filter(() => random.between(0, 2) > 0);
  const few = (): string[] => shared.filter(() => random.between(0, 3) === 0);
  // Their units are those of one payload.
  const fewOfMany = (): string[] =>
    few().filter((name) => limits.find((limit) => limit.name === name)!.units === undefined);
  const atLeastOne = (): string[] => {
    const parts = some();
    return parts.length === 0 ? [shared[0]!] : parts;
  };
  const ofFair = (): string[] =>
    few()
      .filter((name) => !limits.find((limit) => limit.name === name)!.isKeyed)
      .slice(0, 1);
  const mixed = (): FlowRules => {
    const onConflict = ([undefined, 'queue', 'skip', 'cancel_running'] as const)[random.between(0, 3)];
    const isFair = random.between(0, 1) === 0;
    return {
      limits: few(),
      ...(onConflict && { onConflict }),
      hasBreaker: random.between(0, 2) === 0,
      hasCancelOn: random.between(0, 1) === 0,
      hasDebounce: random.between(0, 2) === 0,
      hasCache: random.between(0, 2) === 0,
      isFair,
      hasShare: isFair && random.between(0, 1) === 0,
      isRanked: random.between(0, 1) === 0,
    };
  };
  return {
    ...{ a: { limits: atLeastOne() }, b: { limits: atLeastOne() }, c: { limits: atLeastOne() } },
    ...{ mixed_1: mixed(), mixed_2: mixed(), mixed_3: mixed() },
    fair: { limits: ofFair(), isFair: true, runsOne: true },
    sender: { limits: few(), hasBreaker: true },
    carrier: { limits: ['berths'], hasCancelOn: true },
    translator: { limits: few(), hasCache: true },
    urgent: { limits: [], isRanked: true, runsOne: true },
    single: { limits: few(), onConflict: 'queue' },
    skipper: { limits: few(), onConflict: 'skip' },
    renewer: { limits: few(), onConflict: 'cancel_running' },
    last: { limits: few(), hasDebounce: true },
    joiner: { limits: fewOfMany() },
    packer: { limits: fewOfMany() },
    mover: { limits: few() },
  };
}

/** Agents whose executions have one artifact, and whose limits may be any. */
const MANY_LIMITED: ReadonlySet<Agent> = new Set<Agent>([
  ...LIMITED,
  ...MIXED,
  'sender',
  'translator',
  'single',
  'mover',
]);

/** Returns the rules of the agent in another file. It takes part in none of its limits that are gone. */
function changedAgent(random: Random, agent: Agent, rules: FlowRules, limits: readonly Rule[]): FlowRules {
  const isChanged = MANY_LIMITED.has(agent) && random.between(0, 1) === 0;
  const names = limits.map(({ name }) => name).filter((name) => name !== 'berths');
  const parts = isChanged
    ? names.filter(() => random.between(0, 1) === 0)
    : rules.limits.filter((name) => limits.some((limit) => limit.name === name));
  const mayBeFair = agent === 'fair' || (MIXED.some((name) => name === agent) && !rules.hasShare);
  const mayBreak = agent === 'sender' || MIXED.some((name) => name === agent);
  return {
    ...rules,
    limits: parts,
    ...(mayBeFair && { isFair: random.between(0, 2) > 0 }),
    ...(mayBreak && { hasBreaker: random.between(0, 2) > 0 }),
  };
}

/** A random configuration. Its agents run a module `run.js` beside it. */
export class RandomRules implements LimitFile {
  readonly all: ReadonlyMap<string, Rule>;
  readonly partsOf: Readonly<Record<Agent, readonly string[]>>;
  readonly config: string;

  /** `number`: how many files were before this one. */
  private constructor(
    private readonly number: number,
    /** The limits of the configuration, whose values clients change. */
    readonly limits: readonly Rule[],
    readonly of: Readonly<Record<Agent, FlowRules>>,
    /** True if an execution of `translator` takes the answer of one with the same payload, and not with the same key. */
    readonly cachesPayloads: boolean,
  ) {
    const agents = AGENTS.map((agent) => [agent, likeLimits(agent, this.of[agent])] as const);
    this.all = new Map([...this.limits, ...agents.flatMap(([, rules]) => rules)].map((rule) => [rule.name, rule]));
    // In the order in which executions have them.
    this.partsOf = Object.fromEntries(
      agents.map(([agent, rules]) => [agent, [...rules.map(({ name }) => name), ...this.of[agent].limits]]),
    ) as Record<Agent, string[]>;
    this.config = this.write();
  }

  static first(random: Random): RandomRules {
    const shared = ['one', 'two', 'three'].map((name) => (random.between(0, 3) === 0 ? `${name}/*` : name));
    // Executions that only end when they are called off hold it for long.
    const limits = [...shared, 'berths'].map((name) => ruleOf(random, name));
    return new RandomRules(0, limits, draw(random, shared, limits), random.between(0, 1) === 0);
  }

  /**
   * The next file: limits, the agents that take part in them, `fair_by` and breakers come and go. `known`: the limits of all
   * files so far, one of each name.
   */
  changed(random: Random, known: readonly Rule[]): RandomRules {
    const limits = known
      .filter(({ name }) => name === 'berths' || random.between(0, 7) > 0)
      .map((rule) => {
        // The model of turns knows only limits that all executions share.
        const mayHaveKey = !this.of.fair.limits.includes(rule.name);
        return random.between(0, 1) === 0 ? changedRule(random, rule, mayHaveKey) : rule;
      });
    const of = Object.fromEntries(
      AGENTS.map((agent) => [agent, changedAgent(random, agent, this.of[agent], limits)]),
    ) as Record<Agent, FlowRules>;
    return new RandomRules(this.number + 1, limits, of, this.cachesPayloads);
  }

  private write(): string {
    const more: Partial<Record<Agent, object>> = {
      ...(this.cachesPayloads && { translator: { cache: { for: CACHED } } }),
      joiner: { consumes: [{ types: ['For_joiner', 'With_joiner'], join: { by: 'payload.n' } }] },
      packer: {
        consumes: [{ types: ['For_packer'], batch: { size: LARGEST_PACK, timeout: '200ms', key: 'payload.key' } }],
      },
      mover: { engine: { kind: 'external' }, timeout: '2s', retry: { attempts: 20, delay: '20ms', max_delay: '80ms' } },
    };
    const agents = AGENTS.map((name) => `  ${name}: ${JSON.stringify({ ...this.optionsOf(name), ...more[name] })}`);
    const limits = this.limits.map((rule) => `  ${rule.name}: ${JSON.stringify(limitOptions(rule))}`);
    const publishes = { type: 'For_c', payload: { key: 1, ms: 20, failures: 1 } };
    const schedule = `  ${SCHEDULE}: ${JSON.stringify({ every: '1s', publishes })}`;
    // So that no two files are the same.
    const types = `types: { File_${this.number}: {} }\n`;
    return `${types}limits:\n${limits.join('\n')}\nagents:\n${agents.join('\n')}\nschedules:\n${schedule}\n`;
  }

  private optionsOf(agent: Agent): object {
    const rules = this.of[agent];
    const first = agent in FIRST_PAYLOADS ? FIRST_PAYLOADS[agent as keyof typeof FIRST_PAYLOADS] : 'payload';
    const limits = rules.limits.map((name) => {
      const own = isPattern(name) ? name.replace('*', agent) : name;
      const { isKeyed } = this.limits.find((rule) => rule.name === name)!;
      return isKeyed ? { name: own, key: `${first}.key` } : own;
    });
    return {
      consumes: [
        {
          types: [`For_${agent}`],
          ...(rules.isRanked && { priority: 'payload.urgency' }),
          ...(rules.hasDebounce && { debounce: DEBOUNCE }),
        },
      ],
      ...(limits.length > 0 && { limits }),
      concurrency: rules.runsOne ? 1 : 100,
      engine: { kind: 'function', module: './run.js' },
      // These are enough for the time in which they fail, also without the breaker.
      retry: agent === 'sender' ? { attempts: 50, delay: '20ms', max_delay: '80ms' } : { attempts: 3, delay: '20ms' },
      ...(rules.hasBreaker && { breaker: { failures: '50%', of: 4, open: '1s', key: 'payload.key' } }),
      ...(rules.onConflict && { singleton: { key: 'payload.key', on_conflict: rules.onConflict } }),
      ...(rules.hasCancelOn && { cancel_on: { types: ['Recall'], key: 'payload.key' } }),
      ...(rules.hasCache && { cache: { for: CACHED, key: 'payload.key' }, publishes: [{ type: 'Translation' }] }),
      ...(rules.isFair && { fair_by: 'payload.tenant', weight: 'payload.weight' }),
      ...(rules.hasShare && { max_share: MAX_SHARE }),
    };
  }
}
