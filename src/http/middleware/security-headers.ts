import type { IncomingMessage, ServerResponse } from 'node:http';

import type { NextFunction, Request, Response } from 'express';
import helmet from 'helmet';

/** Pages whose scripts add inline styles. No other page may. */
const STYLED_PAGES = /^\/(docs|redoc)(\/|$)/;

/** Browsers may load resources only from this server, and no inline scripts. */
export function setSecurityHeaders() {
  const strict = headers("'self'");
  const styled = headers("'self' 'unsafe-inline'");
  return (request: Request, response: Response, next: NextFunction): void => {
    for (const [name, value] of STYLED_PAGES.test(request.path) ? styled : strict) response.setHeader(name, value);
    next();
  };
}

/** The headers, computed once. Helmet would compute them again for each answer. */
function headers(styles: string): [string, string][] {
  const made: [string, string][] = [];
  const response = {
    setHeader: (name: string, value: string) => made.push([name, value]),
    removeHeader: () => undefined,
  };
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
    // The proxy in front terminates TLS, so it is also responsible for HSTS.
    strictTransportSecurity: false,
    // `frame-ancestors` replaces X-Frame-Options, and only very old browsers read the other headers. Omitting them
    // saves bytes.
    xFrameOptions: false,
    originAgentCluster: false,
    xDnsPrefetchControl: false,
    xDownloadOptions: false,
    xPermittedCrossDomainPolicies: false,
    xXssProtection: false,
  });
