import { BadRequestException } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';

export const PATH_DOES_NOT_DECODE = 'The path is not valid percent-encoding of UTF-8; write a % that stands for itself as %25';

/** Refuses paths that do not decode. Express does so where a route has a parameter, and says what it failed to do, not what is wrong. */
export function checkPaths() {
  return (request: Request, _response: Response, next: NextFunction): void => {
    if (decodes(request.path)) next();
    else next(new BadRequestException(PATH_DOES_NOT_DECODE));
  };
}

function decodes(path: string): boolean {
  if (!path.includes('%')) return true;
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}
