import { scheduler } from '../../src/common/scheduler.js';
import type { AgentArtifact, Engine, EngineContext, PreparedEngine } from '../../src/engines/engine.js';
import { ALL_ENGINES } from '../../src/engines/engine-registry.js';
import type { Random } from '../support/random.js';
import { FLOW_AGENTS, WITH_BREAKER } from './flow-agents.js';

type Answer = (inputs: AgentArtifact[], context: EngineContext, world: World) => unknown;

/** Everything that agents depend on beside their inputs. */
export interface World {
  random: Random;
  /** `leaper` and the agents with a breaker fail while it is. */
  isIcy: () => boolean;
}

/** The most that one call of a model uses. */
export const CALL = { model: 'stand-in', inputTokens: 40, outputTokens: 60, cost: null };
const CALLS_PER_ATTEMPT = 2;
const LONGEST_CALL_MS = 200;

/** Fails the first one or two attempts of some inputs. */
const failsAtFirst: Answer = ([input], { attempt }) => {
  if (attempt <= (input!.payload.n as number) % 3) throw new Error('the way is blocked');
  return input!.payload;
};

const failsWhileIcy: Answer = ([letter], _, { isIcy }) => {
  if (isIcy()) throw new Error('the post does not come');
  return letter!.payload;
};

/** The answers of the modules of `test/faults/warehouse`, without the time that they take, and of the agents beside it. */
const ANSWERS: Record<string, Answer> = {
  packer: ([order]) => [1, 2, 3].map((part) => ({ n: order!.payload.n, part })),
  labeller: ([parcel], { attempt }) => {
    if (attempt === 1) throw new Error('the printer jams on the first try');
    return { ...parcel!.payload, attempt };
  },
  auditor: (shipments) => ({ audited: shipments.map(({ payload }) => payload.n) }),
  courier: ([trip], { attempt }) => {
    const n = trip!.payload.n as number;
    if (attempt <= n % 4) throw new Error('the road is blocked');
    return { n, attempt };
  },
  leaper: ([leap], _, { isIcy }) => {
    if (isIcy()) throw new Error('the ground is icy');
    return leap!.payload;
  },
  writer: async ([topic], context, world) => {
    for (let call = 0; call < CALLS_PER_ATTEMPT; call += 1) await askModel(context, world);
    return topic!.payload;
  },
  ...Object.fromEntries(Object.keys(FLOW_AGENTS).map((name) => [name, ([input]: AgentArtifact[]) => input!.payload])),
  ...Object.fromEntries(
    ['loader', 'keeper', 'syncer', 'weigher', 'assembler', 'baler', 'changer', 'rival', 'queuer'].map((name) => [
      name,
      failsAtFirst,
    ]),
  ),
  ...Object.fromEntries(WITH_BREAKER.map((name) => [name, failsWhileIcy])),
  clerk: ([row]) => row!.payload,
  sleeper: ([nap]) => nap!.payload,
};

/** Calls a model that is not there, as the engine `llm` does: it may refuse, or break off. */
async function askModel({ reserve, used, settle }: EngineContext, { random }: World): Promise<void> {
  await reserve(CALL);
  await scheduler.pause(random.next() * LONGEST_CALL_MS);
  const chance = random.next();
  if (chance < 0.05) throw new Error('the answer broke off');
  if (chance < 0.1) {
    await settle('refused');
    throw new Error('the model refuses');
  }
  used({ ...CALL, outputTokens: random.between(1, CALL.outputTokens), latencyMs: 1 });
  await settle('answered');
}

/** The agents of `flow-agents.ts` that answer with their input, and never fail. */
const inlineOf = (name: string): PreparedEngine['runInline'] =>
  name in FLOW_AGENTS && ANSWERS[name] !== failsAtFirst && ANSWERS[name] !== failsWhileIcy
    ? ({ artifacts }) => ({ answer: artifacts[0]!.payload })
    : undefined;

const USUAL_MS = 40;
const SLOW_MS = 8_000;

/** The engines of the program. Agents with an answer here do not run; all agents answer after a time of the seed. */
export const simulatedEngines = (world: World): Engine[] => ALL_ENGINES.map((engine) => simulated(engine, world));

function simulated(engine: Engine, world: World): Engine {
  const { random } = world;
  return {
    kind: engine.kind,
    optionsSchema: engine.optionsSchema,
    check: (agent, checks) => engine.check(agent, checks),
    async prepare(agent, environment) {
      const answer = ANSWERS[agent.name];
      const prepared = answer ? null : await engine.prepare(agent, environment);
      const runInline = prepared ? prepared.runInline : inlineOf(agent.name);
      return {
        // As a process whose agent was slow before, it runs some of them later.
        ...(runInline && {
          runInline: (...given: Parameters<typeof runInline>) => (random.next() < 0.5 ? runInline(...given) : null),
        }),
        async run(inputs, context) {
          await scheduler.pause(random.next() * USUAL_MS);
          const output = answer ? await answer(inputs.artifacts, context, world) : await prepared!.run(inputs, context);
          await scheduler.pause(random.next() * (random.next() < 0.05 ? SLOW_MS : USUAL_MS));
          return output;
        },
      };
    },
  };
}
