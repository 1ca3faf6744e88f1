import { type ChildProcess, fork } from 'node:child_process';
import { extname } from 'node:path';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import type { JsonValue } from '../../common/json.js';
import { EVALUATION_HEAP_MB, LARGEST_INPUT, LONGEST_EVALUATION_MS } from '../language/expression-limits.js';
import type { EvaluationResult } from '../language/expression-program.js';
import { jsonPieces } from '../language/json-text.js';

/**
 * A message to an evaluation process. The pieces since the last answer together form the JSON text of the variables.
 */
export interface EvaluationRequest {
  piece: string;
  /** The expression; set in the last message of a request. */
  source?: string;
}

/** A message from an evaluation process: first that it is ready, then one answer for each request. */
export type EvaluationAnswer = { ready: true } | { ok: true; text: string } | { ok: false; error: string };

// `.ts` if this runs from the source, `.js` if it was built.
const ENTRY = fileURLToPath(new URL(`./evaluation-entry${extname(import.meta.url)}`, import.meta.url));
const LONGEST_START_MS = 10_000;

/** Signals with which V8 ends a process that is out of memory. */
const OUT_OF_MEMORY = ['SIGABRT', 'SIGTRAP', 'SIGILL'];

type Outcome = EvaluationAnswer | 'timed out' | 'out of memory' | 'lost';

/**
 * A child process that evaluates one expression after another. It is not a worker thread, because V8 ends the whole
 * process if a single allocation of a thread exceeds its heap limit, for example when a long list of long texts is
 * joined. It has no environment, so that it holds no secrets, and it runs in UTC, because the library's time functions
 * use the local time.
 */
export class EvaluationProcess {
  private constructor(private readonly child: ChildProcess) {}

  /** Rejects if the process does not become ready. */
  static async start(): Promise<EvaluationProcess> {
    const child = fork(ENTRY, [], {
      env: { TZ: 'UTC' },
      execArgv: [`--max-old-space-size=${EVALUATION_HEAP_MB}`],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    // An `error` event without a listener would end this process. Pending calls have separate listeners.
    child.on('error', () => child.kill('SIGKILL'));
    const started = new EvaluationProcess(child);
    const outcome = await started.outcome(LONGEST_START_MS);
    if (typeof outcome === 'string') throw new Error(`the evaluation process was not ready: ${outcome}`);
    return started;
  }

  /** False once the process has ended or was killed. */
  get alive(): boolean {
    return this.child.connected && !this.child.killed;
  }

  /** Evaluates one expression at a time. Null if the process ended for a reason other than this evaluation. */
  async evaluate(source: string, variables: object): Promise<EvaluationResult | null> {
    const began = performance.now();
    const parts = await inputParts(variables);
    if (!parts) return failure(`reads more than ${LARGEST_INPUT} characters of JSON, or a value that nests too deeply`);
    const outcome = this.outcome(LONGEST_EVALUATION_MS - (performance.now() - began));
    await this.send(parts, source);
    return toResult(await outcome);
  }

  /** Kills the process and resolves when it has ended. */
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
      // Sending fails only if the process has ended, and `outcome` reports that.
      if (this.alive) this.child.send(request, () => undefined);
    }
  }

  /**
   * The next answer, or why none came within `limitMs`; the child is then stopped. Keeps this process alive while it
   * waits.
   */
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
      // Messages that have arrived are processed first, because this thread may be late itself.
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

const LONGEST_TURN_MS = 2;
// Sending copies the text, several times for text that is not Latin.
const PART_LENGTH = 2 ** 18;

/**
 * The JSON text of `value` in parts that can each be sent quickly, made without blocking the main thread. Null if the
 * text is longer than `LARGEST_INPUT`, or nests too deeply for the stack.
 */
async function inputParts(value: object): Promise<string[] | null> {
  try {
    return await collect(jsonPieces(value));
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

async function collect(pieces: Iterable<string>): Promise<string[] | null> {
  const parts = [''];
  let length = 0;
  let turn = performance.now();
  for (const piece of pieces) {
    length += piece.length;
    if (length > LARGEST_INPUT) return null;
    addPiece(parts, piece);
    if (performance.now() - turn < LONGEST_TURN_MS) continue;
    await yieldToEventLoop();
    turn = performance.now();
  }
  return parts;
}

function addPiece(parts: string[], piece: string): void {
  if (parts.at(-1)!.length + piece.length <= PART_LENGTH) parts.push(parts.pop()! + piece);
  else
    for (let start = 0; start < piece.length; start += PART_LENGTH) parts.push(piece.slice(start, start + PART_LENGTH));
}
