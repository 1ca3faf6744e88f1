import type { LanguageModel, ModelMessage, ToolSet } from 'ai';
import type { JsonObject } from '../../common/json.js';
import { EngineFailure } from '../engine-failure.js';
import { describeModelError } from './model-error.js';
import type { ModelSource } from './model-providers.js';
import { meteredModel } from './metered-model.js';
import type { Tokens } from './reported-usage.js';

export interface Question {
  model: LanguageModel;
  source: ModelSource;
  instructions: string;
  messages: ModelMessage[];
  schema: JsonObject;
  temperature: number | undefined;
  maxOutputTokens: number | undefined;
  tools: ToolSet;
  /** Calls of the model in all, each but the last followed by calls of tools. */
  maxSteps: number;
  /** Its reason is what the answer rejects with. */
  signal: AbortSignal;
}

/** Reports while the model answers. */
export interface Listener {
  /** A call is to be made, which will read about so many tokens. Where it rejects, none is made, and so does the answer. */
  calls(inputTokens: number): Promise<void>;
  /** As `Meter.ended`. */
  ended(end: 'answered' | 'refused'): Promise<void>;
  /** The model begins to answer: once, and again after tools. */
  begun(): void;
  /** A piece of the answer's text. */
  text(piece: string): void;
  /** What a call of the model has taken since this was last reported: at its end, and where its provider says so, before. */
  used(tokens: Tokens): void;
  /** What the provider leaves out of what it was asked for. */
  warning(text: string): void;
}

export interface ModelAnswer {
  text: string;
  /** What went between the question and the answer: calls of tools, and what came of them. */
  before: ModelMessage[];
}

const UNREPORTED = 'it does not say how many tokens a call takes: without a budget its calls count as none, with one as all that was reserved for them';

/**
 * One answer of the model, after the tools that it asks for. Never asks twice: trying again is the execution's policy.
 * Rejects with an EngineFailure.
 */
export async function askModel(question: Question, listener: Listener): Promise<ModelAnswer> {
  const { streamText, isStepCount, ...sdk } = await loadSdk();
  const { source, signal } = question;
  let text = '';
  let finish = 'error';
  const steps: ModelMessage[][] = [];
  try {
    const { stream } = streamText({
      model: meteredModel(sdk.wrapLanguageModel, question.model, {
        begins: listener.calls,
        ended: listener.ended,
        used: listener.used,
        unreported: () => listener.warning(UNREPORTED),
      }),
      instructions: question.instructions,
      messages: question.messages,
      output: answerIn(sdk, question.schema),
      tools: question.tools,
      stopWhen: isStepCount(question.maxSteps),
      temperature: question.temperature,
      maxOutputTokens: question.maxOutputTokens,
      maxRetries: 0,
      abortSignal: signal,
      // Types may have optional properties, which OpenAI's strict mode refuses; the answer is checked here.
      providerOptions: { openai: { strictJsonSchema: false }, [source.provider]: { strictJsonSchema: false } },
      onError: () => undefined,
      onStepEnd: ({ response }) => void steps.push(response.messages),
    });
    for await (const part of stream) {
      if (part.type === 'error') throw part.error;
      if (part.type === 'abort') throw signal.reason;
      if (part.type === 'start-step') {
        text = '';
        listener.begun();
        part.warnings.forEach((warning) => listener.warning(JSON.stringify(warning)));
      }
      if (part.type === 'text-delta') {
        text += part.text;
        listener.text(part.text);
      }
      if (part.type === 'finish-step') finish = part.finishReason;
    }
  } catch (error) {
    signal.throwIfAborted();
    throw describeModelError(error, source);
  }
  const problem = problemOf(finish, question);
  if (problem) throw problem;
  return { text, before: steps.slice(0, -1).flat() };
}

function problemOf(finish: string, { maxOutputTokens, maxSteps }: Question): EngineFailure | null {
  switch (finish) {
    case 'stop':
      return null;
    case 'length':
      return new EngineFailure('output', `the answer was cut off${maxOutputTokens === undefined ? ' at the model\'s limit; set max_output_tokens' : ` at max_output_tokens (${maxOutputTokens}); raise it`}`);
    case 'content-filter':
      return new EngineFailure('refusal', 'the model refused to answer');
    case 'tool-calls':
      return new EngineFailure('output', `after ${maxSteps} steps the model still asked for tools; raise max_steps`);
    default:
      return new EngineFailure('model', 'the answer broke off');
  }
}

/** Every piece of text goes on as it comes: the SDK would parse all of the answer so far with each, and the whole is checked here. */
const answerIn = ({ Output, jsonSchema }: Pick<typeof import('ai'), 'Output' | 'jsonSchema'>, schema: JsonObject) => ({
  ...Output.object({ schema: jsonSchema(schema) }),
  parsePartialOutput: ({ text }: { text: string }) => Promise.resolve({ partial: text.length }),
});

async function loadSdk(): Promise<typeof import('ai')> {
  // Its warnings would go to standard error; ours go to the log.
  globalThis.AI_SDK_LOG_WARNINGS = false;
  return import('ai');
}
