import { breakerName, singletonName } from '../../src/catalog/limits.js';
import type { Random } from '../support/random.js';
import type { Rule, Values } from './limit-model.js';
import { limitOptions } from './limit-options.js';

/** Agents with limits alone, and one each with a rule beside them. */
export const LIMITED = ['a', 'b', 'c'] as const;
/** Agents whose executions have several artifacts, by an expression for one of their payloads. */
const FIRST_PAYLOADS = { joiner: 'payload.For_joiner', packer: 'payload[0]' } as const;
const OTHERS = ['fair', 'sender', 'carrier', 'translator', 'urgent', 'single', 'skipper', 'renewer', 'last'] as const;
export const AGENTS = [...LIMITED, ...OTHERS, 'joiner', 'packer', 'mover'] as const;
export type Agent = (typeof AGENTS)[number];

/** `packer` takes so many artifacts together. */
export const LARGEST_PACK = 3;

/** Its ticks publish work for `c`. */
export const SCHEDULE = 'steady';

/** The breaker of `sender`. */
const BREAKER: Rule = { name: breakerName('sender'), concurrency: null, rate: null, hold: false, isKeyed: true };

/** Turns: an execution keeps its turn from its first start until it ends. */
const turnOf = (agent: Agent): Rule => {
  return { name: singletonName(agent), concurrency: 1, rate: null, hold: true, isKeyed: true };
};
const TURNS = { single: turnOf('single'), skipper: turnOf('skipper'), renewer: turnOf('renewer') };

/** The `concurrency` of an agent whose executions run one at a time. */
const oneOf = (agent: Agent): Rule => {
  return { name: `one ${agent}`, concurrency: 1, rate: null, hold: false, isKeyed: false };
};
const ONES = { fair: oneOf('fair'), urgent: oneOf('urgent') };

/** The longest time for which an artifact for `last` waits. */
export const AT_MOST_MS = 400;
const DEBOUNCE = { key: 'payload.key', wait: '100ms', at_most: `${AT_MOST_MS}ms` };

/** These are rules of agents, and no limits of the configuration. */
const OF_AGENTS: readonly Rule[] = [BREAKER, ...Object.values(TURNS), ...Object.values(ONES)];

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
        : { perSecond: random.between(50, 400), burst: random.between(units === undefined ? 1 : KEYS, 5) },
  };
}

function ruleOf(random: Random, name: string): Rule {
  const units = random.between(0, 2) === 0 ? 'payload.key' : undefined;
  const values = valuesOf(random, units);
  const hold = values.concurrency !== null && random.between(0, 2) === 0;
  return { name, ...values, hold, isKeyed: random.between(0, 1) === 1, ...(values.rate && { units }) };
}

/** A random configuration. Its agents run a module `run.js` beside it. */
export class RandomRules {
  /** The limits whose values clients change. */
  readonly limits: readonly Rule[];
  /** All limits, and the rules of agents that are like limits. */
  readonly all: ReadonlyMap<string, Rule>;
  /** The agent → what it takes part in. */
  readonly partsOf: Readonly<Record<Agent, readonly string[]>>;
  /** True if executions have equal inputs if their payloads are equal, and not if their keys are. */
  readonly cachesPayloads: boolean;
  readonly config: string;

  constructor(random: Random) {
    const shared = ['one', 'two', 'three'];
    // Executions that only end when they are called off hold it for long.
    this.limits = [...shared, 'berths'].map((name) => ruleOf(random, name));
    this.all = new Map([...this.limits, ...OF_AGENTS].map((rule) => [rule.name, rule]));
    const some = (): string[] => shared.filter(() => random.between(0, 2) > 0);
    const few = (): string[] => shared.filter(() => random.between(0, 3) === 0);
    // Their units are those of one payload.
    const fewOfMany = (): string[] => few().filter((name) => this.all.get(name)!.units === undefined);
    const atLeastOne = (): string[] => {
      const parts = some();
      return parts.length === 0 ? ['one'] : parts;
    };
    this.partsOf = {
      ...{ a: atLeastOne(), b: atLeastOne(), c: atLeastOne() },
      fair: [ONES.fair.name],
      sender: [...few(), BREAKER.name],
      carrier: ['berths'],
      translator: few(),
      urgent: [ONES.urgent.name],
      single: [...few(), TURNS.single.name],
      skipper: [...few(), TURNS.skipper.name],
      renewer: [...few(), TURNS.renewer.name],
      last: few(),
      joiner: fewOfMany(),
      packer: fewOfMany(),
      mover: few(),
    };
    this.cachesPayloads = random.between(0, 1) === 0;
    this.config = this.write();
  }

  private write(): string {
    const cache = { for: '10m', ...(!this.cachesPayloads && { key: 'payload.key' }) };
    const retry = { attempts: 3, delay: '20ms' };
    const rules: Record<Agent, object> = {
      ...Object.fromEntries(LIMITED.map((name) => [name, { retry }])),
      fair: { fair_by: 'payload.tenant', weight: 'payload.weight', concurrency: 1 },
      // Without the breaker, these attempts would not be enough for the time in which they fail.
      sender: {
        breaker: { failures: '50%', of: 4, open: '1s', key: 'payload.key' },
        retry: { attempts: 12, delay: '20ms', max_delay: '80ms' },
      },
      carrier: { cancel_on: { types: ['Recall'], key: 'payload.key' }, retry },
      translator: { cache, publishes: [{ type: 'Translation' }], retry },
      urgent: { consumes: [{ types: ['For_urgent'], priority: 'payload.urgency' }], concurrency: 1 },
      last: { consumes: [{ types: ['For_last'], debounce: DEBOUNCE }], retry },
      single: { singleton: { key: 'payload.key', on_conflict: 'queue' }, retry },
      skipper: { singleton: { key: 'payload.key', on_conflict: 'skip' }, retry },
      renewer: { singleton: { key: 'payload.key', on_conflict: 'cancel_running' }, retry },
      joiner: { consumes: [{ types: ['For_joiner', 'With_joiner'], join: { by: 'payload.n' } }], retry },
      packer: {
        consumes: [{ types: ['For_packer'], batch: { size: LARGEST_PACK, timeout: '200ms', key: 'payload.key' } }],
        retry,
      },
      mover: { engine: { kind: 'external' }, timeout: '2s', retry: { attempts: 20, delay: '20ms', max_delay: '80ms' } },
    } as Record<Agent, object>;
    const agents = AGENTS.map((name) => {
      const first = name in FIRST_PAYLOADS ? FIRST_PAYLOADS[name as keyof typeof FIRST_PAYLOADS] : 'payload';
      const limits = this.partsOf[name]
        .map((part) => this.all.get(part)!)
        .filter((rule) => !OF_AGENTS.includes(rule))
        .map((rule) => (rule.isKeyed ? { name: rule.name, key: `${first}.key` } : rule.name));
      const options = {
        consumes: [{ types: [`For_${name}`] }],
        ...(limits.length > 0 && { limits }),
        concurrency: 100,
        engine: { kind: 'function', module: './run.js' },
        ...rules[name],
      };
      return `  ${name}: ${JSON.stringify(options)}`;
    });
    const limits = this.limits.map((rule) => `  ${rule.name}: ${JSON.stringify(limitOptions(rule))}`);
    const publishes = { type: 'For_c', payload: { key: 1, ms: 20, failures: 1 } };
    const schedule = `  ${SCHEDULE}: ${JSON.stringify({ every: '1s', publishes })}`;
    return `limits:\n${limits.join('\n')}\nagents:\n${agents.join('\n')}\nschedules:\n${schedule}\n`;
  }
}
