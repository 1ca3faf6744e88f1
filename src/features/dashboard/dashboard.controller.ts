import { Controller, Get, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';

import { DomainError } from '../../common/domain-error.js';
import { ApiExcludeController } from '../../http/openapi/documentation.js';
import { type DashboardFile, DashboardFiles } from './dashboard-files.js';

const ROOT = '/dashboard/';
const ASSETS = 'assets/';

/** Serves the web app: its files, and its page for every other path, because the app has a view for each. */
@ApiExcludeController()
@Controller('dashboard')
export class DashboardController {
  constructor(private readonly files: DashboardFiles) {}

  @Get(['', '*path'])
  get(@Req() request: Request, @Res() response: Response): void {
    const name = request.path.slice(ROOT.length);
    const file = this.files.find(name);
    if (file?.immutable) sendAsset(file, request, response);
    else if (name.startsWith(ASSETS)) throw new DomainError('not_found', `Dashboard file not found: ${name}`);
    else sendPage(this.files.pageAt(request.path), response);
  }
}

function sendAsset(file: DashboardFile, request: Request, response: Response): void {
  const encoding = request.acceptsEncodings('br', 'gzip', 'identity');
  const encoded = encoding === 'br' || encoding === 'gzip' ? file[encoding] : undefined;
  if (encoded !== undefined) response.setHeader('Content-Encoding', encoding as string);
  response.setHeader('Vary', 'Accept-Encoding');
  response.setHeader('Cache-Control', 'public, max-age=31536000, immutable');
  send(file.contentType, encoded ?? file.identity(), response);
}

function sendPage(page: string, response: Response): void {
  response.setHeader('Cache-Control', 'no-cache');
  send('text/html; charset=utf-8', Buffer.from(page), response);
}

function send(contentType: string, content: Buffer, response: Response): void {
  response.setHeader('Content-Type', contentType);
  response.setHeader('Content-Length', content.length);
  response.end(content);
}
