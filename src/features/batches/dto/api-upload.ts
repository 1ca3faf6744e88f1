import { applyDecorators } from '@nestjs/common';
import { ApiExtraModels, getSchemaPath } from '@nestjs/swagger';

import { ApiForm } from '../../../http/openapi/api-form.js';
import { UploadedBatchRequest } from './batch-request.js';

/** Documents the form of a batch with an uploaded file. */
export const ApiUpload = (): MethodDecorator =>
  applyDecorators(
    ApiExtraModels(UploadedBatchRequest),
    ApiForm({
      schema: {
        type: 'object',
        required: ['file', 'request'],
        properties: {
          file: {
            type: 'string',
            format: 'binary',
            description: 'The CSV file: UTF-8, with a header and at least one row, at most 1 GiB',
          },
          request: { description: 'JSON of at most 1 MiB', allOf: [{ $ref: getSchemaPath(UploadedBatchRequest) }] },
        },
        additionalProperties: false,
      },
      encoding: { file: { contentType: 'text/csv' }, request: { contentType: 'application/json' } },
    }),
  );
