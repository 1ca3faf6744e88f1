// The entry point of an evaluation process; see evaluation-process.ts.
import { registerHooks } from 'node:module';
import { Worker } from 'node:worker_threads';

import type { EvaluationAnswer, EvaluationRequest } from './evaluation-process.js';

// If it runs from the source, as in tests, Node strips the types but does not resolve `x.js` to `x.ts`.
if (import.meta.url.endsWith('.ts')) {
  registerHooks({
    resolve: (specifier, context, next) =>
      next(
        specifier.startsWith('.') && context.parentURL?.endsWith('.ts') ? specifier.replace(/\.js$/, '.ts') : specifier,
        context,
      ),
  });
}

const { compiled } = await import('../language/expression-program.js');
const { LARGEST_RESULT } = await import('../language/expression-limits.js');

answerRequests();

/** Answers the requests of the parent process until the parent ends. */
function answerRequests(): void {
  let text = '';
  process.on('message', ({ piece, source }: EvaluationRequest) => {
    text += piece;
    if (source === undefined) return;
    send(answer(source, text));
    text = '';
  });
  process.on('disconnect', () => process.exit());
  // Ctrl-C and some supervisors signal the whole process group, while the parent still finishes its running work.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined);
  endWithParent();
  send({ ready: true });
}

function answer(source: string, text: string): EvaluationAnswer {
  const result = compiled(source).run(JSON.parse(text) as Record<string, unknown>);
  if (!result.ok) return result;
  const written = JSON.stringify(result.value);
  if (written.length > LARGEST_RESULT)
    return { ok: false, error: `the result is longer than ${LARGEST_RESULT} characters of JSON` };
  return { ok: true, text: written };
}

/**
 * A process cannot react to events during an evaluation, not even to the end of its parent, and a CEL expression can
 * run for years. So a separate thread checks every second whether the parent still exists.
 */
function endWithParent(): void {
  const look = `setInterval(() => { if (process.ppid !== ${process.ppid}) process.kill(process.pid, 'SIGKILL'); }, 1000)`;
  new Worker(look, { eval: true }).unref();
}

function send(answer: EvaluationAnswer): void {
  process.send!(answer);
}
