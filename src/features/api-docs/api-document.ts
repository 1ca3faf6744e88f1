import type { INestApplication } from '@nestjs/common';
import type { Settings } from '../../config/settings.js';
import { buildOpenApi } from './openapi.js';

/** The OpenAPI document of the running application, built when it is first asked for. */
export class ApiDocument {
  private json: Buffer | undefined;
  private application: INestApplication | undefined;

  constructor(private readonly settings: Settings) {}

  get title(): string {
    return this.settings.serverName;
  }

  /** The application cannot be injected into itself: the entry hands it over once it is made. */
  describes(application: INestApplication): void {
    this.application = application;
  }

  /** As it is sent: the same bytes for everyone, however many do not read them. */
  get(): Buffer {
    if (!this.application) throw new Error('The application that the document describes has not been handed over');
    this.json ??= Buffer.from(JSON.stringify(buildOpenApi(this.application, this.settings)));
    return this.json;
  }
}
