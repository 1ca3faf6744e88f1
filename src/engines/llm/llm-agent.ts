import type { LanguageModel, ModelMessage, ToolSet } from 'ai';

import type { AgentDefinition } from '../../catalog/definitions.js';
import { isJsonObject, type JsonObject } from '../../common/json.js';
import { scheduler } from '../../common/scheduler.js';
import type { EngineContext, EngineEnvironment, ExecutionInputs, PreparedEngine } from '../engine.js';
import { EngineFailure } from '../engine-answers.js';
import { askModel, type ModelAnswer } from './ask-model.js';
import {
  BOUND_WITH_BUDGET,
  boundOf,
  DEFAULT_CONTEXT_TOKENS,
  DEFAULT_MAX_STEPS,
  isLimited,
  type LlmOptions,
  optionsOf,
} from './llm-options.js';
import type { LoadModel, ModelSource } from './model-providers.js';
import { answerSchema, contextLines, dataText, refusedText, systemText } from './prompt.js';
import { agentTools, type AllowedTools } from './tools/agent-tools.js';
import { ToolServer } from './tools/tool-server.js';
import { PiecesWithoutKey, withoutKey, withoutKeyIn } from './without-key.js';

/** State of one attempt. */
interface Turn {
  /** Number of answers that the model has begun. */
  answers: number;
  tools: ToolSet;
  /** Aborted with the attempt, or by a tool failure that ends it. */
  signal: AbortSignal;
}

/** The engine of one llm agent. */
export class LlmAgent implements PreparedEngine {
  private readonly options: LlmOptions;
  private readonly allowed: AllowedTools[];
  private readonly types: string[];
  private readonly schema: JsonObject;
  private readonly instructions: string;
  private model: Promise<LanguageModel> | null = null;
  private readonly warned = new Set<string>();
  private hasReportedCut = false;
  private readonly isLimited: boolean;
  private readonly maxOutputTokens: number | undefined;

  constructor(
    private readonly agent: AgentDefinition,
    private readonly source: ModelSource,
    private readonly environment: EngineEnvironment,
    private readonly load: LoadModel,
  ) {
    this.options = optionsOf(agent);
    const { catalog, baseDirectory, outbound, shared, logger } = environment;
    this.isLimited = isLimited(agent, catalog);
    this.maxOutputTokens = this.isLimited
      ? (boundOf(agent, catalog) ?? BOUND_WITH_BUDGET)
      : this.options.max_output_tokens;
    this.allowed = (this.options.tools ?? []).map(({ mcp, allow }) => ({
      server: shared.get(
        `MCP server ${JSON.stringify([mcp, baseDirectory])}`,
        () => new ToolServer(mcp, baseDirectory, outbound.fetch, logger),
      ),
      names: allow,
    }));
    this.types = [...new Set(agent.outputs.map(({ type }) => type))];
    this.schema = answerSchema(this.types.map((type) => catalog.type(type)!));
    const { instructions, context = 'none' } = this.options;
    this.instructions = systemText(instructions, {
      context: context !== 'none',
      schema: source.takesSchema ? null : this.schema,
    });
  }

  async run({ artifacts }: ExecutionInputs, context: EngineContext): Promise<unknown> {
    const { options } = this;
    // Before tools are called and artifacts are read, which would be in vain without a model.
    await this.loaded();
    const { context: option = 'none', context_tokens: tokens = DEFAULT_CONTEXT_TOKENS } = options;
    const earlier = await contextLines(option, tokens, artifacts, context);
    if (earlier?.isCut) this.reportCut(tokens, context);
    const messages: ModelMessage[] = [{ role: 'user', content: dataText(artifacts, earlier?.lines ?? null) }];

    const failed = new AbortController();
    const signal = AbortSignal.any([context.signal, failed.signal]);
    const tools = await agentTools(this.allowed, context, {
      timeoutMs: this.agent.timeoutMs,
      clock: this.environment.clock,
      signal,
      failed,
    });
    const turn: Turn = { answers: 0, tools, signal };
    const first = await this.ask(messages, context, turn);
    await context.parses(first.text);
    const judged = this.judge(first.text, context);
    if (judged.problem === null) return judged.answer;
    // Providers refuse empty messages.
    const said: ModelMessage[] = first.text === '' ? [] : [{ role: 'assistant', content: first.text }];
    const again = await this.ask(
      [...messages, ...first.before, ...said, { role: 'user', content: refusedText(judged.problem) }],
      context,
      turn,
    );
    await context.parses(again.text);
    const second = this.judge(again.text, context);
    if (second.problem !== null)
      throw new EngineFailure('output', `the model's answer was refused twice: ${second.problem}`);
    return second.answer;
  }

  private async ask(messages: ModelMessage[], context: EngineContext, turn: Turn): Promise<ModelAnswer> {
    const { options, source } = this;
    const model = await this.loaded();
    let since = scheduler.elapsed();
    const pieces = new PiecesWithoutKey(source);
    const show = (text: string): void => {
      if (text !== '') context.wrote(text, turn.answers);
    };
    const answer = await askModel(
      {
        model,
        source,
        instructions: this.instructions,
        messages,
        schema: this.schema,
        temperature: options.temperature,
        maxOutputTokens: this.maxOutputTokens,
        tools: turn.tools,
        maxSteps: options.max_steps ?? DEFAULT_MAX_STEPS,
        signal: turn.signal,
      },
      {
        calls: (inputTokens) => this.reserve(inputTokens, context),
        ended: (end) => (this.isLimited ? context.settle(end) : NOTHING_TO_DO),
        begun: () => {
          show(pieces.end());
          turn.answers += 1;
        },
        text: (piece) => show(pieces.add(piece)),
        used: ({ input, output }) => {
          const now = scheduler.elapsed();
          context.used({
            model: options.model,
            inputTokens: input,
            outputTokens: output,
            cost: this.costOf(input, output),
            latencyMs: now - since,
          });
          since = now;
        },
        warning: (text) => this.warn(text, context),
      },
    );
    show(pieces.end());
    return { ...answer, text: withoutKey(answer.text, source) };
  }

  private reserve(inputTokens: number, context: EngineContext): Promise<void> {
    if (!this.isLimited) return NOTHING_TO_DO;
    const outputTokens = this.maxOutputTokens!;
    return context.reserve({
      model: this.options.model,
      inputTokens,
      outputTokens,
      cost: this.costOf(inputTokens, outputTokens),
    });
  }

  private judge(text: string, context: EngineContext): Judged {
    let answer: unknown;
    try {
      answer = withoutKeyIn(JSON.parse(text), this.source);
    } catch (error) {
      return { problem: `it is not JSON: ${(error as Error).message}` };
    }
    const problem = formProblem(answer, this.types) ?? context.refusal(answer);
    return problem === null ? { problem, answer } : { problem };
  }

  /** Loads the model once. After a failure it tries again, because a missing package may be installed meanwhile. */
  private async loaded(): Promise<LanguageModel> {
    const { baseDirectory, outbound } = this.environment;
    this.model ??= this.load(this.source, baseDirectory, outbound.fetch, this.agent.name);
    try {
      return await this.model;
    } catch (error) {
      this.model = null;
      throw error instanceof EngineFailure ? error : new EngineFailure('model', (error as Error).message);
    }
  }

  private costOf(input: number, output: number): number | null {
    const terms = this.environment.catalog.models.get(this.options.model);
    return terms ? (input * terms.inputPerMillion + output * terms.outputPerMillion) / 1_000_000 : null;
  }

  private reportCut(tokens: number, { logger }: EngineContext): void {
    if (this.hasReportedCut) return;
    this.hasReportedCut = true;
    logger.info(
      { context_tokens: tokens },
      'older artifacts are left out of the context: they do not fit into context_tokens (logged once)',
    );
  }

  // Logged once, because every call would cause the same warning.
  private warn(text: string, { logger }: EngineContext): void {
    if (this.warned.has(text)) return;
    this.warned.add(text);
    logger.warn(
      { model: this.options.model, warning: withoutKey(text, this.source) },
      'the provider reports a limitation (logged once)',
    );
  }
}

const NOTHING_TO_DO = Promise.resolve();

type Judged = { problem: string } | { problem: null; answer: unknown };

/**
 * Refuses a list, which would mean several artifacts or none. Other engines may return that, but the schema for the
 * model does not allow it.
 */
function formProblem(answer: unknown, types: readonly string[]): string | null {
  if (!isJsonObject(answer)) return 'it must be a JSON object';
  if (types.length === 1) return null;
  const list = Object.keys(answer).find((key) => Array.isArray(answer[key]));
  return list === undefined ? null : `${list} must be a JSON object`;
}
