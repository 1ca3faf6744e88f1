import type { INestApplication } from '@nestjs/common';

import type { Catalog } from '../../catalog/catalog.js';
import type { Settings } from '../../config/settings.js';
import { buildOpenApi } from './openapi.js';

/** The OpenAPI document of the running application, built on the first request for it. */
export class ApiDocument {
  private json: Promise<Buffer> | undefined;
  private application: INestApplication | undefined;

  constructor(
    private readonly settings: Settings,
    private readonly catalog: Catalog,
  ) {}

  get title(): string {
    return this.settings.serverName;
  }

  /** Sets the application to describe. The entry point calls it, because Nest cannot inject an application. */
  describes(application: INestApplication): void {
    this.application = application;
  }

  /** Returns the document as JSON. Every answer sends the same buffer, so that slow readers cost no further memory. */
  get(): Promise<Buffer> {
    return (this.json ??= this.build());
  }

  private async build(): Promise<Buffer> {
    if (!this.application) throw new Error('ApiDocument.describes() must be called before the document is requested');
    return Buffer.from(JSON.stringify(await buildOpenApi(this.application, this.settings, this.catalog)));
  }
}
