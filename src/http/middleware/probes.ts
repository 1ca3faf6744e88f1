import type { NextFunction, Request, Response } from 'express';

import { DomainError } from '../../common/domain-error.js';

/** The paths that orchestrators and scrapers read every few seconds from each process. */
export const PROBES: ReadonlySet<string> = new Set(['/metrics', '/health', '/health/live', '/health/ready']);

/** Refuses all other paths, in a process that does not serve the API. */
export function answerProbesAlone() {
  return (request: Request, _response: Response, next: NextFunction): void => {
    if (PROBES.has(request.path)) next();
    else
      next(
        new DomainError(
          'not_found',
          'This process is a worker and does not serve the API; send the request to a process that runs starling serve',
        ),
      );
  };
}
