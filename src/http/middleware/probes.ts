import type { NextFunction, Request, Response } from 'express';
import { DomainError } from '../../common/domain-error.js';

/** What orchestrators and scrapers read, every few seconds, of each process. */
export const PROBES: ReadonlySet<string> = new Set(['/metrics', '/health', '/health/live', '/health/ready']);

/** Refuses everything else: for a process that serves no API. */
export function answerProbesAlone() {
  return (request: Request, _response: Response, next: NextFunction): void => {
    if (PROBES.has(request.path)) next();
    else next(new DomainError('not_found', 'This process is a worker and serves no API; send the request to one that runs starling serve'));
  };
}
