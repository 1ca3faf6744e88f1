// The entry point of an evaluation process; see evaluation-process.ts.
import { registerHooks } from 'node:module';

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

const { answerRequests } = await import('./evaluation-answers.js');
answerRequests();
