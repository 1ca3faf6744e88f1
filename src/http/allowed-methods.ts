import { type HttpException, MethodNotAllowedException } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';

/** What Express' router keeps of a route; its types leave it out. */
interface RouterLayer {
  route?: { methods: Record<string, boolean> };
  match(path: string): boolean;
}

/** Those that routes are looked up for in any case: there a wrong method is found out where no route was. */
const SERVED: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'POST']);

/** Refuses all other methods at a known path, before a body is read. */
export function checkMethods() {
  return (request: Request, response: Response, next: NextFunction): void => next(SERVED.has(request.method) ? undefined : wrongMethod(request, response));
}

/** The 405 for a path that has routes, none of them for the request's method; undefined where there is no such path, or there is a route. Sets `Allow`. */
export function wrongMethod(request: Request, response: Response): HttpException | undefined {
  const { method, path } = request;
  // No route has it: a browser's question before a request is answered where its origin is checked.
  if (method === 'OPTIONS') return undefined;
  const methods = methodsAt(request);
  if (methods.size === 0 || methods.has(method)) return undefined;
  const allowed = [...methods].sort().join(', ');
  response.setHeader('Allow', allowed);
  return new MethodNotAllowedException(`${method} is not allowed at ${path}; use ${allowed}`);
}

function methodsAt({ app, path }: Request): Set<string> {
  const { stack } = app.router as unknown as { stack: RouterLayer[] };
  const methods = new Set<string>();
  for (const layer of stack) {
    if (!layer.route || !layer.match(path)) continue;
    for (const method of Object.keys(layer.route.methods)) methods.add(method.toUpperCase());
  }
  // Express answers it by the route for GET.
  if (methods.has('GET')) methods.add('HEAD');
  return methods;
}
