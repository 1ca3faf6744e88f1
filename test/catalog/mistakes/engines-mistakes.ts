import { type Mistake, withAgent } from './mistake.js';

/** Engines and their options. */
export const ENGINES_MISTAKES: Mistake[] = [
  [
    'an unknown kind',
    withAgent('', { engine: '{ kind: functon, module: ./a.ts }' }),
    'error line 5, column 15: agents.a.engine.kind: must be one of "expression", "function", "http", "llm", "external"; did you mean "function"?',
  ],
  [
    'an engine that is only a name',
    withAgent('', { engine: 'external' }),
    'error line 5, column 5: agents.a.engine: must be an object such as { kind: function, module: ./agent.ts }',
  ],
  [
    'an engine without its kind',
    withAgent('', { engine: '{ module: ./a.ts }' }),
    'error line 5, column 5: agents.a.engine.kind: is required',
  ],
  [
    'an unknown option',
    withAgent('', { engine: '{ kind: function, modul: ./a.ts }' }),
    'error line 5, column 31: agents.a.engine.modul: is not a known key; did you mean module?',
  ],
  [
    'a missing module',
    withAgent('', { engine: '{ kind: function, module: ./missing.ts }' }),
    'error line 5, column 31: agents.a.engine.module: the file <folder>/missing.ts does not exist',
  ],
  [
    'a module of another language',
    withAgent('', { engine: '{ kind: function, module: ./a.py }' }),
    'error line 5, column 31: agents.a.engine.module: must be the path of a .ts, .js or .mjs file',
  ],
  [
    'a promise that is neither true nor false',
    withAgent('', { engine: '{ kind: function, module: ./a.ts, pure: mostly }' }),
    'error line 5, column 47: agents.a.engine.pure: must be true or false',
  ],
  [
    'an address that is no URL',
    withAgent('', { engine: '{ kind: http, url: localhost:9000 }' }),
    'error line 5, column 27: agents.a.engine.url: must be an http or https URL without a user, such as http://127.0.0.1:9000/',
  ],
  [
    'an expression of YAML',
    withAgent('', { engine: '{ kind: expression, expression: [] }' }),
    'error line 5, column 33: agents.a.engine.expression: must be a text with a CEL expression; put the expression in quotes',
  ],
  [
    'a model without a provider',
    withAgent('', { engine: '{ kind: llm, model: gpt-5-mini, instructions: x }' }),
    'error line 5, column 26: agents.a.engine.model: must name provider and model, such as openai/gpt-5-mini',
  ],
  [
    'a temperature out of range',
    withAgent('', { engine: '{ kind: llm, model: openai/x, instructions: x, temperature: 3 }' }),
    'error line 5, column 60: agents.a.engine.temperature: must be a number from 0 to 2',
  ],
  [
    'tools without command and url',
    withAgent('', { engine: '{ kind: llm, model: openai/x, instructions: x, tools: [{ mcp: {}, allow: [t] }] }' }),
    'error line 5, column 70: agents.a.engine.tools[0].mcp: must be an object with either command or url',
  ],
  [
    'an escalation to nobody',
    withAgent('', { engine: '{ kind: external, assignee: anna, due: { after: 1h, then: escalate } }' }),
    'error line 5, column 47: agents.a.engine.due.to: is missing: escalate needs the name of the new assignee',
  ],
  [
    'a due time in words',
    withAgent('', { engine: '{ kind: external, due: { after: tomorrow, then: fail } }' }),
    'error line 5, column 38: agents.a.engine.due.after: must be a duration such as 500ms, 30s, 5m, 2h or 30d',
  ],
  [
    'a context of an unknown type',
    withAgent('', { engine: '{ kind: llm, model: openai/x, instructions: x, context: { types: [Ordr] } }' }),
    'warning line 5, column 79: agents.a.engine.context.types[0]: no artifact type has the name Ordr, so the context contains none of it; did you mean Order?',
  ],
  [
    'a context by an unknown agent',
    withAgent('', { engine: '{ kind: llm, model: openai/x, instructions: x, context: { produced_by: [extrenal] } }' }),
    'warning line 5, column 85: agents.a.engine.context.produced_by[0]: no agent has the name extrenal, so the context contains none of it; did you mean external?',
  ],
  [
    'an empty budget',
    withAgent('    budget: {}\n'),
    'error line 6, column 5: agents.a.budget: must be an object with tokens, cost or both',
  ],
  [
    'a negative price',
    'models:\n  openai/x: { input_per_million: -1, output_per_million: 2 }\n',
    'error line 2, column 15: models.openai/x.input_per_million: must be a number that is at least 0',
  ],
];
