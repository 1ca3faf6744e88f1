import type { LanguageModel, wrapLanguageModel } from 'ai';
import { EngineFailure } from '../engine-failure.js';
import { hasGeneratedNothing } from './model-error.js';
import { estimatedTokens } from './token-estimate.js';
import { type Tokens, reportedUsage } from './reported-usage.js';

type Wrapping = Parameters<typeof wrapLanguageModel>[0];

export interface Meter {
  /** Called before each call, with what it will read as it is estimated. The call is not made where it rejects. */
  begins(inputTokens: number): Promise<void>;
  /**
   * Called when a call has ended: when its answer is whole, or when it was refused before the model generated anything. Not called for one
   * that is given up or breaks off: how much the model generated is not known.
   */
  ended(end: 'answered' | 'refused'): Promise<void>;
  /** Since the last report. */
  used(tokens: Tokens): void;
  /** A call has ended of which nothing was reported. */
  unreported(): void;
}

/** Characters of one answer, with what the model thinks and asks of tools: more than any model writes, and what the SDK collects. */
const MOST_WRITTEN = 1_024 ** 2;

const BROKEN: ReadonlySet<string> = new Set(['error', 'other']);

const NOTHING: Tokens = { input: 0, output: 0 };

/**
 * The model, each of whose calls reports what it has taken since its last report: where its provider says so on the way, and at its end.
 * The provider's own chunks are read here and go no further: the SDK would hand each through all of its streams.
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

/** For one call. */
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
        // A stream that broke off may finish too, with the figures that it had reported by then.
        if (!hasFailed && !BROKEN.has(part.finishReason.unified)) {
          if (counted.input === 0 && counted.output === 0) unreported();
          await ended('answered');
        }
      }
      if (part.type === 'error') hasFailed = true;
      if ('delta' in part) written += part.delta.length;
      if (written > MOST_WRITTEN) throw new EngineFailure('output', `the model wrote more than ${MOST_WRITTEN} characters`);
      controller.enqueue(part);
    },
  });
}
