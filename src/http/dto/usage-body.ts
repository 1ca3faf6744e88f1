import { roundedSum } from '../../common/rounded-sum.js';
import { ApiProperty } from '../openapi/documentation.js';

/** Model usage. */
export class UsageBody {
  @ApiProperty({ type: 'integer', description: 'Tokens that models read (input)' })
  input_tokens!: number;

  @ApiProperty({ type: 'integer', description: 'Tokens that models wrote (output)' })
  output_tokens!: number;

  @ApiProperty({
    required: false,
    description: 'In the currency of the configured prices; absent if none of the used models has a price',
  })
  cost?: number;
}

interface Sums {
  input_tokens: number | null;
  output_tokens: number | null;
  cost: number | null;
}

/** The `usage` field of an answer; no field if no model was used. */
export const usageField = ({ input_tokens, output_tokens, cost }: Sums): { usage?: UsageBody } => {
  if (!input_tokens && !output_tokens) return {};
  return {
    usage: {
      input_tokens: input_tokens ?? 0,
      output_tokens: output_tokens ?? 0,
      ...(cost !== null && { cost: roundedSum(cost) }),
    },
  };
};

export const USAGE_EXAMPLE: UsageBody = { input_tokens: 1_204, output_tokens: 96, cost: 0.000493 };
