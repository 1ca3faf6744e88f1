import type { LanguageModel, wrapLanguageModel } from 'ai';

import { EngineFailure } from '../engine-answers.js';
import { hasGeneratedNothing } from './model-error.js';
import { estimatedTokens, reportedUsage, type Tokens } from './tokens.js';

type Wrapping = Parameters<typeof wrapLanguageModel>[0];

export interface Meter {
  /** Called before each model call with its estimated input tokens. If it rejects, the call is not made. */
  begins(inputTokens: number): Promise<void>;
  /**
   * Called when the answer of a call is complete, or when the call was refused before the model generated anything. Not
   * called for a call that was aborted or broke off, because it is unknown how much the model generated.
   */
  ended(end: 'answered' | 'refused'): Promise<void>;
  /** The tokens since the last report. */
  used(tokens: Tokens): void;
  /** A call has ended for which no usage was reported. */
  unreported(): void;
}

/**
 * Characters of one answer, including reasoning and tool calls. It is more than any model writes, and bounds what the
 * SDK collects.
 */
const MOST_WRITTEN = 1_024 ** 2;

const BROKEN: ReadonlySet<string> = new Set(['error', 'other']);

const NOTHING: Tokens = { input: 0, output: 0 };

/**
 * Wraps a model so that each call reports its usage: at its end and, if the provider sends usage during the stream,
 * before. The provider's raw chunks are consumed here, because the SDK would pass each through all of its streams.
 */
export function meteredModel(wrap: typeof wrapLanguageModel, model: LanguageModel, meter: Meter): LanguageModel {
  return wrap({
    model: model as Wrapping['model'],
    middleware: {
      transformParams: ({ params }) => Promise.resolve({ ...params, includeRawChunks: true }),
      wrapStream: async ({ doStream, params: { prompt, tools, responseFormat } }) => {
        await meter.begins(estimatedTokens({ prompt, tools, responseFormat }));
        const { stream, ...call } = await refusals(doStream(), meter);
        return { ...call, stream: stream.pipeThrough(metering(meter)) };
      },
    },
  });
}

type Parts = Awaited<ReturnType<NonNullable<Exclude<Wrapping['middleware'], unknown[]>['wrapStream']>>>['stream'];
type Part = Parts extends ReadableStream<infer One> ? One : never;

async function refusals<Answer>(answering: PromiseLike<Answer>, { ended }: Meter): Promise<Answer> {
  try {
    return await answering;
  } catch (error) {
    if (hasGeneratedNothing(error)) await ended('refused');
    throw error;
  }
}

/** Meters one call. */
function metering({ ended, used, unreported }: Meter): TransformStream<Part, Part> {
  let counted = NOTHING;
  let written = 0;
  let hasFailed = false;
  const count = (tokens: Tokens): void => {
    used({ input: tokens.input - counted.input, output: tokens.output - counted.output });
    counted = tokens;
  };
  return new TransformStream({
    async transform(part, controller) {
      if (part.type === 'raw') {
        const reported = reportedUsage(part.rawValue, counted);
        if (reported && (reported.input !== counted.input || reported.output !== counted.output)) count(reported);
        return;
      }
      if (part.type === 'finish') {
        const { inputTokens, outputTokens } = part.usage;
        count({ input: inputTokens.total ?? counted.input, output: outputTokens.total ?? counted.output });
        // A stream that broke off may also finish, with the usage up to then.
        if (!hasFailed && !BROKEN.has(part.finishReason.unified)) {
          if (counted.input === 0 && counted.output === 0) unreported();
          await ended('answered');
        }
      }
      if (part.type === 'error') hasFailed = true;
      if ('delta' in part) written += part.delta.length;
      if (written > MOST_WRITTEN)
        throw new EngineFailure('output', `the model wrote more than ${MOST_WRITTEN} characters`);
      controller.enqueue(part);
    },
  });
}
