import type { LanguageModel, ModelMessage, ToolSet } from 'ai';

import type { JsonObject } from '../../common/json.js';
import { EngineFailure } from '../engine-answers.js';
import { meteredModel } from './metered-model.js';
import { describeModelError } from './model-error.js';
import type { ModelSource } from './model-providers.js';
import type { Tokens } from './tokens.js';

export interface Question {
  model: LanguageModel;
  source: ModelSource;
  instructions: string;
  messages: ModelMessage[];
  schema: JsonObject;
  temperature: number | undefined;
  maxOutputTokens: number | undefined;
  tools: ToolSet;
  /** Largest number of model calls. Tool calls follow each but the last. */
  maxSteps: number;
  /** The answer rejects with its reason. */
  signal: AbortSignal;
}

/** Receives events while the model answers. */
export interface Listener {
  /**
   * Called before a model call with the estimated input tokens. If it rejects, no call is made and the answer rejects
   * too.
   */
  calls(inputTokens: number): Promise<void>;
  /** See `Meter.ended`. */
  ended(end: 'answered' | 'refused'): Promise<void>;
  /** The model begins an answer: the first one, or another one after tool calls. */
  begun(): void;
  /** A piece of the answer's text. */
  text(piece: string): void;
  /** Usage of a model call since the last report. Called at its end and, if the provider reports it, before. */
  used(tokens: Tokens): void;
  /** Something that the provider does not support and leaves out. */
  warning(text: string): void;
}

export interface ModelAnswer {
  text: string;
  /** The messages between the question and the answer: tool calls and their results. */
  before: ModelMessage[];
}

const UNREPORTED =
  'the provider does not report tokens: without a budget a call counts as zero, with a budget as all tokens reserved for it';

/**
 * Gets one answer from the model, after its tool calls. It never retries, because the execution's policy decides that.
 * Rejects with EngineFailure.
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
      // Types may have optional properties, which OpenAI's strict mode refuses. The answer is checked here instead.
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
      return new EngineFailure(
        'output',
        `the answer was cut off${maxOutputTokens === undefined ? " at the model's limit; set max_output_tokens" : ` at max_output_tokens (${maxOutputTokens}); raise it`}`,
      );
    case 'content-filter':
      return new EngineFailure('refusal', 'the model refused to answer');
    case 'tool-calls':
      return new EngineFailure('output', `after ${maxSteps} steps the model still asked for tools; raise max_steps`);
    default:
      return new EngineFailure('model', 'the answer broke off');
  }
}

/**
 * Passes each piece of text on unchanged: the SDK would parse the whole answer so far with each piece. The complete
 * answer is checked here.
 */
const answerIn = ({ Output, jsonSchema }: Pick<typeof import('ai'), 'Output' | 'jsonSchema'>, schema: JsonObject) => ({
  ...Output.object({ schema: jsonSchema(schema) }),
  parsePartialOutput: ({ text }: { text: string }) => Promise.resolve({ partial: text.length }),
});

async function loadSdk(): Promise<typeof import('ai')> {
  // Without this the SDK prints its warnings to standard error. Ours go to the log.
  globalThis.AI_SDK_LOG_WARNINGS = false;
  return import('ai');
}
