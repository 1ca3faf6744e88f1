import type { IncomingMessage, ServerResponse } from 'node:http';
import type { NextFunction, Request, Response } from 'express';
import helmet from 'helmet';

/** Pages that style themselves from their scripts; nothing else may. */
const STYLED_PAGES = /^\/(docs|redoc)(\/|$)/;

/** Everything that a browser loads comes from this server, and no script is inline. */
export function setSecurityHeaders() {
  const strict = headers("'self'");
  const styled = headers("'self' 'unsafe-inline'");
  return (request: Request, response: Response, next: NextFunction): void => {
    for (const [name, value] of STYLED_PAGES.test(request.path) ? styled : strict) response.setHeader(name, value);
    next();
  };
}

/** By name. The same for every answer: Helmet would compute them again for each one. */
function headers(styles: string): [string, string][] {
  const made: [string, string][] = [];
  const response = { setHeader: (name: string, value: string) => made.push([name, value]), removeHeader: () => undefined };
  policy(styles)({} as IncomingMessage, response as unknown as ServerResponse, (error) => {
    if (error) throw error;
  });
  return made;
}

const policy = (styles: string): ReturnType<typeof helmet> =>
  helmet({
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
