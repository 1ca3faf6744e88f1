import type { JsonObject } from '../../../common/json.js';
import { ApiProperty } from '../../../http/openapi/documentation.js';

export class DefinitionBody {
  @ApiProperty({ description: 'Executions of an agent with an equal definition have the same digest' })
  digest!: string;

  @ApiProperty()
  agent!: string;

  @ApiProperty({ format: 'date-time', description: 'When a process with this definition first started' })
  first_used_at!: string;

  @ApiProperty({
    description:
      'The agent as the configuration has it. Variables such as `${NAME}` are not replaced by their values, and texts ' +
      'of `headers` and `env` without a variable are not shown',
    type: 'object',
    additionalProperties: true,
  })
  options!: JsonObject;

  @ApiProperty({
    description: 'The declared types that the agent publishes',
    type: 'object',
    additionalProperties: { type: 'object', additionalProperties: true },
  })
  schemas!: JsonObject;

  @ApiProperty({
    description: 'SHA-256 of the module and of each local file that it imports, keyed by path',
    type: 'object',
    additionalProperties: { type: 'string' },
  })
  files!: Record<string, string>;

  @ApiProperty({
    description: 'Versions of the packages that these files import, keyed by name',
    type: 'object',
    additionalProperties: { type: 'string' },
  })
  packages!: Record<string, string>;
}

export const DEFINITION_EXAMPLE: DefinitionBody = {
  digest: `sha256:${'5'.repeat(64)}`,
  agent: 'classifier',
  first_used_at: '2026-11-20T09:55:00.000Z',
  options: {
    consumes: [{ types: ['CustomerMessage'] }],
    publishes: [{ type: 'Intent' }],
    engine: { kind: 'function', module: './agents/classifier.ts' },
  },
  schemas: { Intent: { version: 1, schema: { type: 'object', required: ['intent'] } } },
  files: { 'agents/classifier.ts': 'a'.repeat(64), 'agents/words.ts': 'b'.repeat(64) },
  packages: { stemmer: '2.0.1' },
};
