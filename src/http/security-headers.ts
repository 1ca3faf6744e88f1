import type { NextFunction, Request, Response } from 'express';
import helmet from 'helmet';

/** Pages that style themselves from their scripts; nothing else may. */
const STYLED_PAGES = /^\/(docs|redoc)(\/|$)/;

/** Everything that a browser loads comes from this server, and no script is inline. */
export function setSecurityHeaders() {
  const strict = headers("'self'");
  const styled = headers("'self' 'unsafe-inline'");
  return (request: Request, response: Response, next: NextFunction): void =>
    (STYLED_PAGES.test(request.path) ? styled : strict)(request, response, next);
}

function headers(styles: string): ReturnType<typeof helmet> {
  return helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        'default-src': "'self'",
        'script-src': "'self'",
        'style-src': styles,
        'img-src': "'self' data:",
        'object-src': "'none'",
        'base-uri': "'none'",
        'form-action': "'self'",
        'frame-ancestors': "'none'",
      },
    },
    // TLS belongs to the proxy in front, and so does the promise to keep it.
    strictTransportSecurity: false,
    // `frame-ancestors` says the first; only browsers that are long gone read the others. Every answer would carry them.
    xFrameOptions: false,
    originAgentCluster: false,
    xDnsPrefetchControl: false,
    xDownloadOptions: false,
    xPermittedCrossDomainPolicies: false,
    xXssProtection: false,
  });
}
