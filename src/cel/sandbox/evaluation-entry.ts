// The program of an evaluation process; see evaluation-process.ts.
import { registerHooks } from 'node:module';

// Run from the source (as tests do), Node strips the types but does not look for `x.ts` where an import says `x.js`.
if (import.meta.url.endsWith('.ts')) {
  registerHooks({
    resolve: (specifier, context, next) =>
      next(specifier.startsWith('.') && context.parentURL?.endsWith('.ts') ? specifier.replace(/\.js$/, '.ts') : specifier, context),
  });
}

const { answerRequests } = await import('./evaluation-answers.js');
answerRequests();
