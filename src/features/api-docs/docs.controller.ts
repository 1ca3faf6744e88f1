import { Controller, Get, Header, Param, Res } from '@nestjs/common';
import type { Response } from 'express';

import { DomainError } from '../../common/domain-error.js';
import { ApiErrors } from '../../http/openapi/api-errors.js';
import { ApiOkResponse, ApiOperation, ApiParam, ApiProduces, ApiTags } from '../../http/openapi/documentation.js';
import { ApiDocument } from './api-document.js';
import { pageFile } from './page-files.js';
import { renderPage } from './pages.js';

const HTML = { 'text/html': { schema: { type: 'string' as const }, example: '<!DOCTYPE html>' } };

@ApiTags('Docs')
@Controller()
export class DocsController {
  constructor(private readonly api: ApiDocument) {}

  @Get('openapi.json')
  @ApiOperation({ summary: 'Get this API as an OpenAPI 3.0 document' })
  @ApiOkResponse({
    description: 'The document',
    content: {
      'application/json': {
        schema: { type: 'object' },
        example: { openapi: '3.0.3', info: { title: 'Support desk', version: '1' }, paths: {} },
      },
    },
  })
  async openApi(@Res() response: Response): Promise<void> {
    const document = await this.api.get();
    response.setHeader('Content-Type', 'application/json; charset=utf-8');
    response.end(document);
  }

  @Get('docs')
  @Header('Content-Type', 'text/html; charset=utf-8')
  @ApiOperation({ summary: 'Show interactive documentation in Swagger UI' })
  @ApiProduces('text/html')
  @ApiOkResponse({ description: 'The page', content: HTML })
  swaggerUi(): string {
    const scripts = ['/docs/swagger-ui-bundle.js', '/docs/start-swagger-ui.js'];
    return renderPage({ title: this.api.title, root: 'swagger-ui', styles: ['/docs/swagger-ui.css'], scripts });
  }

  @Get('redoc')
  @Header('Content-Type', 'text/html; charset=utf-8')
  @ApiOperation({ summary: 'Show documentation for reading in Redoc' })
  @ApiProduces('text/html')
  @ApiOkResponse({ description: 'The page', content: HTML })
  redoc(): string {
    const scripts = ['/docs/redoc.standalone.js', '/docs/start-redoc.js'];
    return renderPage({ title: this.api.title, root: 'redoc', styles: [], scripts });
  }

  @Get('docs/:file')
  @ApiOperation({ summary: 'Get a file that the documentation pages load' })
  @ApiParam({ name: 'file', description: 'Name of the file', schema: { type: 'string', example: 'swagger-ui.css' } })
  @ApiProduces('text/css')
  @ApiOkResponse({
    description: 'The file',
    content: { 'text/css': { schema: { type: 'string' }, example: '.swagger-ui {}' } },
  })
  @ApiErrors([404, 'Page file not found: other.css'])
  file(@Param('file') name: string, @Res() response: Response): void {
    const file = pageFile(name);
    if (!file) throw new DomainError('not_found', `Page file not found: ${name}`);
    response.setHeader('Content-Type', file.contentType);
    // The file names have no version, so a browser must ask again after an upgrade: one hour is the compromise.
    response.setHeader('Cache-Control', 'public, max-age=3600');
    response.end(file.content);
  }
}
