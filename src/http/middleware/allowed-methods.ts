import { type HttpException, MethodNotAllowedException } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';

/** A layer of Express' router, which its types do not describe. */
interface RouterLayer {
  route?: { methods: Record<string, boolean> };
  match(path: string): boolean;
}

/**
 * Methods for which routes are looked up anyway. For these, the error filter finds a wrong method after no route
 * matched.
 */
const SERVED: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST']);

/** Answers OPTIONS, and refuses methods without a route at a known path, before a body is read. */
export function checkMethods() {
  return (request: Request, response: Response, next: NextFunction): void => {
    if (SERVED.has(request.method)) next();
    else if (request.method === 'OPTIONS') answerOptions(request, response, next);
    else next(wrongMethod(request, response));
  };
}

/** Answers with the methods of the path. The origin check answers a browser's preflight requests before this. */
function answerOptions(request: Request, response: Response, next: NextFunction): void {
  // `*` stands for the whole server (RFC 9110, section 9.3.7).
  const methods = request.path === '*' ? SERVED : methodsAt(request);
  if (methods.size === 0) return next();
  response.setHeader('Allow', listed(methods));
  response.status(204).end();
}

/** Returns a 405 and sets `Allow` if the path has routes, but none for the request's method; otherwise undefined. */
export function wrongMethod(request: Request, response: Response): HttpException | undefined {
  const { method, path } = request;
  const methods = methodsAt(request);
  if (methods.size === 0 || methods.has(method)) return undefined;
  const allowed = listed(methods);
  response.setHeader('Allow', allowed);
  return new MethodNotAllowedException(`${method} is not allowed at ${path}; use ${allowed}`);
}

const listed = (methods: ReadonlySet<string>): string => [...methods].sort().join(', ');

function methodsAt({ app, path }: Request): Set<string> {
  const { stack } = app.router as unknown as { stack: RouterLayer[] };
  const methods = new Set<string>();
  for (const layer of stack) {
    if (!layer.route || !layer.match(path)) continue;
    for (const method of Object.keys(layer.route.methods)) methods.add(method.toUpperCase());
  }
  // Express answers HEAD with the route for GET.
  if (methods.has('GET')) methods.add('HEAD');
  return methods;
}
