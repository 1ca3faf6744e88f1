import type { INestApplication } from '@nestjs/common';
import type { OpenAPIObject } from '@nestjs/swagger';
import { buildOpenApi } from './openapi.js';

/** The OpenAPI document of the running application, built when it is first asked for. */
export class ApiDocument {
  private document: OpenAPIObject | undefined;
  private application: INestApplication | undefined;

  constructor(readonly title: string) {}

  /** The application cannot be injected into itself: the entry hands it over once it is made. */
  describes(application: INestApplication): void {
    this.application = application;
  }

  get(): OpenAPIObject {
    if (!this.application) throw new Error('The application that the document describes has not been handed over');
    this.document ??= buildOpenApi(this.application, this.title);
    return this.document;
  }
}
