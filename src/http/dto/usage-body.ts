import { ApiProperty } from '@nestjs/swagger';

/** What was used of models. */
export class UsageBody {
  @ApiProperty({ type: 'integer', description: 'Tokens that models read' })
  input_tokens!: number;

  @ApiProperty({ type: 'integer', description: 'Tokens that they wrote' })
  output_tokens!: number;

  @ApiProperty({ required: false, description: 'In the currency of the configured prices; absent where no model that was used has one' })
  cost?: number;
}

interface Sums {
  input_tokens: number | null;
  output_tokens: number | null;
  cost: number | null;
}

// Sums of binary fractions, without the digits that only say so.
const DIGITS = 12;

/** `usage` of an answer; nothing where no model was used. */
export const usageField = ({ input_tokens, output_tokens, cost }: Sums): { usage?: UsageBody } => {
  if (!input_tokens && !output_tokens) return {};
  return {
    usage: {
      input_tokens: input_tokens ?? 0,
      output_tokens: output_tokens ?? 0,
      ...(cost !== null && { cost: Number(cost.toPrecision(DIGITS)) }),
    },
  };
};

export const USAGE_EXAMPLE: UsageBody = { input_tokens: 1_204, output_tokens: 96, cost: 0.000493 };
