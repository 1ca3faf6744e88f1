import { breakerName, singletonName } from '../../src/catalog/limits.js';
import type { Random } from '../support/random.js';
import type { Rule, Values } from './limit-model.js';
import { limitOptions } from './limit-options.js';

/** Agents with limits alone, and one each with a rule beside them. */
export const LIMITED = ['a', 'b', 'c'] as const;
export const AGENTS = [...LIMITED, 'fair', 'sender', 'carrier', 'translator', 'urgent', 'single', 'last'] as const;
export type Agent = (typeof AGENTS)[number];

/** The breaker of `sender`. */
const BREAKER: Rule = { name: breakerName('sender'), concurrency: null, rate: null, hold: false, isKeyed: true };

/** The turns of `single`: an execution keeps its turn from its first start until it ends. */
const TURN: Rule = { name: singletonName('single'), concurrency: 1, rate: null, hold: true, isKeyed: true };

/** The longest time for which an artifact for `last` waits. */
export const AT_MOST_MS = 400;
const DEBOUNCE = { key: 'payload.key', wait: '100ms', at_most: `${AT_MOST_MS}ms` };

/** These are rules of agents, and no limits of the configuration. */
const OF_AGENTS: readonly string[] = [BREAKER.name, TURN.name];

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
  /** All limits, the breaker and the turns. */
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
    this.all = new Map([...this.limits, BREAKER, TURN].map((rule) => [rule.name, rule]));
    const some = (): string[] => shared.filter(() => random.between(0, 2) > 0);
    const few = (): string[] => shared.filter(() => random.between(0, 3) === 0);
    const atLeastOne = (): string[] => {
      const parts = some();
      return parts.length === 0 ? ['one'] : parts;
    };
    this.partsOf = {
      ...{ a: atLeastOne(), b: atLeastOne(), c: atLeastOne() },
      fair: [],
      sender: [...few(), BREAKER.name],
      carrier: ['berths'],
      translator: few(),
      urgent: [],
      single: [...few(), TURN.name],
      last: few(),
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
    } as Record<Agent, object>;
    const agents = AGENTS.map((name) => {
      const limits = this.partsOf[name].filter((part) => !OF_AGENTS.includes(part));
      const options = {
        consumes: [{ types: [`For_${name}`] }],
        ...(limits.length > 0 && { limits }),
        concurrency: 100,
        ...rules[name],
        engine: { kind: 'function', module: './run.js' },
      };
      return `  ${name}: ${JSON.stringify(options)}`;
    });
    const limits = this.limits.map((rule) => `  ${rule.name}: ${JSON.stringify(limitOptions(rule))}`);
    return `limits:\n${limits.join('\n')}\nagents:\n${agents.join('\n')}\n`;
  }
}
