import { ApiProperty } from '../../../http/openapi/documentation.js';

export class ProcessBody {
  @ApiProperty({ format: 'uuid' })
  id!: string;

  @ApiProperty({
    enum: ['server', 'worker'],
    isArray: true,
    description: '`server` serves the API; `worker` runs executions',
  })
  roles!: string[];

  @ApiProperty({ description: 'Version of the program' })
  version!: string;

  @ApiProperty({
    description:
      'Digest of the configuration, without `server:` and without the values of variables. Equal digests mean equal ' +
      'configurations',
  })
  configuration!: string;

  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'string' },
    description:
      'The configurations that replays can name (`replay_config`), with a digest of what replays take from each. Empty ' +
      'without the role `worker`, because such a process runs no replays',
  })
  replay_configurations!: Record<string, string>;

  @ApiProperty({
    type: [String],
    description: 'The agents that it has: all of its configuration for a `worker`, otherwise the external ones',
  })
  agents!: string[];

  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'integer' },
    description: 'Number of running executions of each agent',
  })
  running!: Record<string, number>;

  @ApiProperty({ format: 'date-time' })
  started_at!: string;

  @ApiProperty({
    format: 'date-time',
    description: 'Last heartbeat. A process that crashed is listed until its lease expires',
  })
  last_heartbeat_at!: string;
}

export class ProcessesBody {
  @ApiProperty({ type: [ProcessBody], description: 'Processes in the order of their start' })
  processes!: ProcessBody[];
}

export const PROCESSES_EXAMPLE: ProcessesBody = {
  processes: [
    {
      id: '019a7f5e-0a11-7c00-9d3e-8b7a6c5d4e3f',
      roles: ['server', 'worker'],
      version: '0.1.0',
      configuration: 'sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
      replay_configurations: {
        candidate: 'sha256:60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752',
      },
      agents: ['classifier', 'router'],
      running: { classifier: 2 },
      started_at: '2026-11-20T10:00:00.000Z',
      last_heartbeat_at: '2026-11-20T10:15:40.000Z',
    },
  ],
};
