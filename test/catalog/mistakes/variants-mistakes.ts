import type { Mistake } from './mistake.js';

const agent = (keys: string): string => `agents:
  caller: { consumes: [{ types: [Call] }], ${keys}, engine: { kind: expression, expression: payload } }
`;

const variant = (options: string): string => agent(`variants: { a: { ${options} } }`);

const many = Array.from({ length: 9 }, (_, n) => `v${n}: { share: 1%, expression: payload }`).join(', ');

/** Variants of agents, and when they are rolled back. */
export const VARIANTS_MISTAKES: Mistake[] = [
  [
    'a rollback of nothing',
    agent('rollback: { failures: 5%, of: 200 }'),
    'error line 2, column 44: agents.caller.rollback: counts the attempts of variants; add variants, or remove rollback',
  ],
  [
    'a rollback after a count',
    agent('variants: { a: { share: 10%, expression: payload } }, rollback: { failures: 5, of: 200 }'),
    'error line 2, column 110: agents.caller.rollback.failures: must be a share such as 50%, from 1% to 100%',
  ],
  [
    'no variants',
    agent('variants: {}'),
    'error line 2, column 44: agents.caller.variants: has no variant; add one, or remove variants',
  ],
  [
    'more variants than an agent may have',
    agent(`variants: { ${many} }`),
    'error line 2, column 44: agents.caller.variants: must have at most 8 variants',
  ],
  [
    'shares that are more than everything',
    agent('variants: { a: { share: 60%, expression: payload }, b: { share: 40.01%, expression: payload } }'),
    'error line 2, column 44: agents.caller.variants: the shares are 100.01% together; they must be at most 100%',
  ],
  [
    "a variant with the name of the agent's own options",
    agent('variants: { base: { share: 10%, expression: payload } }'),
    "error line 2, column 56: agents.caller.variants.base: base means the agent's own options; choose another name",
  ],
  [
    'a variant without a share',
    variant('expression: payload'),
    'error line 2, column 56: agents.caller.variants.a.share: is required',
  ],
  [
    'a share that is a number',
    variant('share: 0.1, expression: payload'),
    'error line 2, column 61: agents.caller.variants.a.share: must be a share such as 10% or 2.5%, from 0% to 100%',
  ],
  [
    'a variant that differs in nothing',
    variant('share: 10%'),
    'error line 2, column 56: agents.caller.variants.a: must have one or more of expression, instructions, temperature, max_output_tokens, model, which replace those of the engine',
  ],
  [
    'a variant with an option of another engine',
    variant('share: 10%, instructions: Hello.'),
    'error line 2, column 73: agents.caller.variants.a.instructions: is an option of llm agents, but caller has the engine expression',
  ],
  [
    'a variant whose expression is not CEL',
    variant("share: 10%, expression: 'payload.'"),
    'error line 2, column 93: agents.caller.variants.a.expression: is not valid CEL at `.`',
  ],
  [
    'a variant with a model that the configuration does not name',
    `agents:
  caller: { consumes: [{ types: [Call] }], publishes: [{ type: Reply }], variants: { a: { share: 10%, model: local/big } }, engine: { kind: llm, model: local/small, base_url: "http://127.0.0.1:9/v1", instructions: Hello. } }
`,
    'error line 2, column 103: agents.caller.variants.a.model: must be a model that the configuration names: local/small',
  ],
];
