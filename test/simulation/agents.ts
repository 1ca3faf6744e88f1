import { scheduler } from '../../src/common/scheduler.js';
import type { AgentArtifact, Engine, EngineContext } from '../../src/engines/engine.js';
import { ALL_ENGINES } from '../../src/engines/engine-registry.js';
import type { Random } from '../support/random.js';

type Answer = (inputs: AgentArtifact[], context: EngineContext) => unknown;

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
  clerk: ([row]) => row!.payload,
  sleeper: ([nap]) => nap!.payload,
};

const USUAL_MS = 40;
const SLOW_MS = 8_000;

/** The engines of the program. Agents with an answer here do not run; all agents answer after a time of the seed. */
export const simulatedEngines = (random: Random): Engine[] => ALL_ENGINES.map((engine) => simulated(engine, random));

function simulated(engine: Engine, random: Random): Engine {
  return {
    kind: engine.kind,
    optionsSchema: engine.optionsSchema,
    check: (agent, checks) => engine.check(agent, checks),
    async prepare(agent, environment) {
      const answer = ANSWERS[agent.name];
      const prepared = answer ? null : await engine.prepare(agent, environment);
      return {
        async run(inputs, context) {
          await scheduler.pause(random.next() * USUAL_MS);
          const output = answer ? answer(inputs.artifacts, context) : await prepared!.run(inputs, context);
          await scheduler.pause(random.next() * (random.next() < 0.05 ? SLOW_MS : USUAL_MS));
          return output;
        },
      };
    },
  };
}
