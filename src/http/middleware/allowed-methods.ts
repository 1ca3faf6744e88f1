import { type HttpException, MethodNotAllowedException } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';

/** What Express' router keeps of a route; its types leave it out. */
interface RouterLayer {
  route?: { methods: Record<string, boolean> };
  match(path: string): boolean;
}

/** Those that routes are looked up for in any case: there a wrong method is found out where no route was. */
const SERVED: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST']);

/** Answers OPTIONS, and refuses all other methods at a known path, before a body is read. */
export function checkMethods() {
  return (request: Request, response: Response, next: NextFunction): void => {
    if (SERVED.has(request.method)) next();
    else if (request.method === 'OPTIONS') answerOptions(request, response, next);
    else next(wrongMethod(request, response));
  };
}

/** With the methods of the path; what a browser asks before a request is answered where its origin is checked. */
function answerOptions(request: Request, response: Response, next: NextFunction): void {
  // The server as a whole (RFC 9110, section 9.3.7).
  const methods = request.path === '*' ? SERVED : methodsAt(request);
  if (methods.size === 0) return next();
  response.setHeader('Allow', listed(methods));
  response.status(204).end();
}

/** The 405 for a path that has routes, none of them for the request's method; undefined where there is no such path, or there is a route. Sets `Allow`. */
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
  // Express answers it by the route for GET.
  if (methods.has('GET')) methods.add('HEAD');
  return methods;
}
