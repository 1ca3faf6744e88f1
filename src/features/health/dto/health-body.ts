import { ApiProperty } from '../../../http/openapi/documentation.js';

const INDICATORS = {
  type: 'object' as const,
  additionalProperties: {
    type: 'object',
    required: ['status'],
    properties: {
      status: { type: 'string', enum: ['up', 'down'] },
      message: { type: 'string' },
      responseTime: { type: 'number' },
    },
  },
};

interface Indicator {
  status: string;
  message?: string;
  /** Milliseconds. */
  responseTime?: number;
}

/** The body that Terminus makes. */
export class HealthBody {
  @ApiProperty({ enum: ['ok', 'error'], example: 'ok' })
  status!: string;

  @ApiProperty({ ...INDICATORS, description: 'The parts that are up' })
  info!: Record<string, Indicator>;

  @ApiProperty({ ...INDICATORS, description: 'The parts that are down' })
  error!: Record<string, Indicator>;

  @ApiProperty({ ...INDICATORS, description: 'All parts' })
  details!: Record<string, Indicator>;
}

const DATABASE_UP = { database: { status: 'up', responseTime: 1 } };
const EXECUTOR_UP = { executor: { status: 'up' } };
const EXECUTOR_DOWN = { executor: { status: 'down', message: 'shutting down' } };

export const READY: HealthBody = {
  status: 'ok',
  info: { ...DATABASE_UP, ...EXECUTOR_UP },
  error: {},
  details: { ...DATABASE_UP, ...EXECUTOR_UP },
};

export const NOT_READY: HealthBody = {
  status: 'error',
  info: DATABASE_UP,
  error: EXECUTOR_DOWN,
  details: { ...DATABASE_UP, ...EXECUTOR_DOWN },
};

export const LIVE: HealthBody = { status: 'ok', info: {}, error: {}, details: {} };
