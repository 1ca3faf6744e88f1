import { createHash } from 'node:crypto';

import type { LanguageModel, wrapLanguageModel } from 'ai';

import type { JsonObject } from '../common/json.js';
import { recordsModels } from '../config/environment.js';
import { EngineFailure } from '../engines/engine-answers.js';
import { type LoadModel, loadModel, type ModelSource } from '../engines/llm/model-providers.js';
import { recordedParts } from './recorded-parts.js';
import { RecordingsFile } from './recordings-file.js';

type Model = Extract<LanguageModel, { specificationVersion: 'v4' }>;
type Request = Parameters<Model['doStream']>[0];
type Answer = Awaited<ReturnType<Model['doStream']>>;
type Part = Answer['stream'] extends ReadableStream<infer One> ? One : never;
type AnyModel = Parameters<typeof wrapLanguageModel>[0]['model'];

/** Models that answer from a file of recordings. When it records, other requests go to the real model. */
export class RecordedModels {
  private readonly file: RecordingsFile | null;
  private readonly records = recordsModels();
  private unrecorded: Error | null = null;

  /** Without a path, every request fails. */
  constructor(path: string | null) {
    this.file = path === null ? null : new RecordingsFile(path);
  }

  readonly load: LoadModel = (source, baseDirectory, fetch, agent) =>
    Promise.resolve<Model>({
      specificationVersion: 'v4',
      provider: source.provider,
      modelId: source.name,
      supportedUrls: {},
      doGenerate: () => Promise.reject(new Error('agents only stream')),
      doStream: async (request) => {
        const key = keyOf(request);
        const known = this.file?.all().find((recording) => recording.agent === agent && recording.request === key);
        if (known) return { stream: ReadableStream.from(known.answer) as ReadableStream<never> };
        if (!this.records || this.file === null) throw this.notRecorded(agent, source);
        const real = await loadModel(source, baseDirectory, fetch);
        return this.record(await currentVersion(real), request, { agent, model: modelName(source), request: key });
      },
    });

  /** Throws the error of the first request since the last call that was not recorded. */
  throwIfUnrecorded(): void {
    const error = this.unrecorded;
    this.unrecorded = null;
    if (error) throw error;
  }

  private async record(
    model: Model,
    request: Request,
    about: { agent: string; model: string; request: string },
  ): Promise<Answer> {
    const answer = await model.doStream(request);
    const file = this.file!;
    const recorded = recordedParts<Part>((parts) => file.add({ ...about, answer: parts }));
    return { ...answer, stream: answer.stream.pipeThrough(recorded) };
  }

  private notRecorded(agent: string, source: ModelSource): EngineFailure {
    const message = this.file
      ? `this request of ${agent} to ${modelName(source)} is not recorded in ${this.file.path}: run the test with RECORD_MODELS=1 to record it${source.needsKey ? `, which needs ${source.keyVariable}` : ''}`
      : `${agent} asks the model ${modelName(source)}: give it an answer with TestKit.answer, or start the test kit with { recordings: <file> } and run the test with RECORD_MODELS=1 to record the model`;
    this.unrecorded ??= new Error(message);
    return new EngineFailure('model', message, { isFinal: true });
  }
}

const modelName = ({ provider, name }: ModelSource): string => `${provider}/${name}`;

/** Equal for requests to which a recorded answer is an answer. */
function keyOf({ prompt, tools, toolChoice, responseFormat, temperature, maxOutputTokens }: Request): string {
  const asked: JsonObject = JSON.parse(
    JSON.stringify({ prompt, tools, toolChoice, responseFormat, temperature, maxOutputTokens }),
  ) as JsonObject;
  return createHash('sha256').update(JSON.stringify(asked)).digest('hex');
}

/** Providers may implement an older version of the interface. */
async function currentVersion(model: LanguageModel): Promise<Model> {
  const { wrapLanguageModel } = await import('ai');
  return wrapLanguageModel({ model: model as AnyModel, middleware: {} }) as Model;
}
