import { type ChildProcess, fork } from 'node:child_process';
import { extname } from 'node:path';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { JsonValue } from '../../common/json.js';
import type { EvaluationAnswer, EvaluationRequest } from './evaluation-messages.js';
import type { EvaluationResult } from '../evaluator.js';
import { inputParts } from './input-parts.js';
import { EVALUATION_HEAP_MB, LARGEST_INPUT, LONGEST_EVALUATION_MS } from '../language/expression-limits.js';

// `.ts` where this runs from its source, `.js` where it was built.
const ENTRY = fileURLToPath(new URL(`./evaluation-entry${extname(import.meta.url)}`, import.meta.url));
const LONGEST_START_MS = 10_000;

/** How V8 ends a process that has no memory left. */
const OUT_OF_MEMORY = ['SIGABRT', 'SIGTRAP', 'SIGILL'];

type Outcome = EvaluationAnswer | 'timed out' | 'out of memory' | 'lost';

/**
 * A process that evaluates one expression after another. A process and not a worker thread, since V8 ends the whole process
 * where a single allocation of a thread passes its heap limit, as joining a long list of long texts does. It has no
 * environment, so that it holds no secret, and runs in UTC, since the library's time functions go by way of the local time.
 */
export class EvaluationProcess {
  private constructor(private readonly child: ChildProcess) {}

  /** Rejects where the process does not get ready. */
  static async start(): Promise<EvaluationProcess> {
    const child = fork(ENTRY, [], {
      env: { TZ: 'UTC' },
      execArgv: [`--max-old-space-size=${EVALUATION_HEAP_MB}`],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    // One without a listener would end this process; whoever waits for an answer hears of it too.
    child.on('error', () => child.kill('SIGKILL'));
    const started = new EvaluationProcess(child);
    const outcome = await started.outcome(LONGEST_START_MS);
    if (typeof outcome === 'string') throw new Error(`the evaluation process was not ready: ${outcome}`);
    return started;
  }

  /** False once it has ended or is told to. */
  get alive(): boolean {
    return this.child.connected && !this.child.killed;
  }

  /** One at a time. Null where the process was ended by something else than this evaluation. */
  async evaluate(source: string, variables: object): Promise<EvaluationResult | null> {
    const began = performance.now();
    const parts = await inputParts(variables);
    if (!parts) return failure(`reads more than ${LARGEST_INPUT} characters of JSON, or a value that nests too deeply`);
    const outcome = this.outcome(LONGEST_EVALUATION_MS - (performance.now() - began));
    await this.send(parts, source);
    return toResult(await outcome);
  }

  /** Resolves when it has ended. */
  async stop(): Promise<void> {
    const { child } = this;
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.ref();
    child.kill('SIGKILL');
    await ended;
  }

  private async send(parts: string[], source: string): Promise<void> {
    for (const [index, piece] of parts.entries()) {
      if (index > 0) await yieldToEventLoop();
      const isLast = index === parts.length - 1;
      const request: EvaluationRequest = isLast ? { piece, source } : { piece };
      // A failure to send is the end of the process, which the outcome tells of.
      if (this.alive) this.child.send(request, () => undefined);
    }
  }

  /** The next answer, or why there is none within `limitMs`; the process is stopped then. Keeps this process alive meanwhile. */
  private outcome(limitMs: number): Promise<Outcome> {
    const { child } = this;
    this.hold();
    return new Promise((resolve) => {
      const end = (outcome: Outcome): void => {
        clearTimeout(timer);
        child.off('message', end).off('exit', died).off('error', died);
        this.release();
        resolve(outcome);
      };
      const died = (): void => end(OUT_OF_MEMORY.includes(child.signalCode ?? '') ? 'out of memory' : 'lost');
      const expire = (): void => {
        void this.stop();
        end('timed out');
      };
      // After a look at what has arrived: this thread may be late itself.
      const timer = setTimeout(() => setImmediate(expire), Math.max(limitMs, 0));
      child.on('message', end).on('exit', died).on('error', died);
    });
  }

  private hold(): void {
    this.child.ref();
    this.child.channel?.ref();
  }

  private release(): void {
    this.child.unref();
    this.child.channel?.unref();
  }
}

function toResult(outcome: Outcome): EvaluationResult | null {
  if (outcome === 'lost') return null;
  if (outcome === 'timed out') return failure(`takes longer than ${LONGEST_EVALUATION_MS} ms`);
  if (outcome === 'out of memory') return failure(`needs more than ${EVALUATION_HEAP_MB} MB of memory`);
  if ('ready' in outcome) throw new Error('an evaluation process was ready twice');
  return outcome.ok ? { ok: true, value: JSON.parse(outcome.text) as JsonValue } : outcome;
}

const failure = (error: string): EvaluationResult => ({ ok: false, error });
