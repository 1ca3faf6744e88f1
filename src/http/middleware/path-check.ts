import { BadRequestException } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';

export const PATH_DOES_NOT_DECODE = 'The path is not valid percent-encoded UTF-8; encode a literal % as %25';

/** Refuses paths that cannot be decoded. Express does so only for routes with a parameter, with an unclear message. */
export function checkPaths() {
  return (request: Request, _response: Response, next: NextFunction): void => {
    if (decodes(request.path)) next();
    else next(new BadRequestException(PATH_DOES_NOT_DECODE));
  };
}

function decodes(path: string): boolean {
  if (!path.includes('%')) return true;
  try {
    // The result is used, because the bundler drops a call without an effect, also one that may throw.
    return decodeURIComponent(path) !== '';
  } catch {
    return false;
  }
}
