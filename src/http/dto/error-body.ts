import { ApiProperty } from '@nestjs/swagger';

/** The body of every error. */
export class ErrorBody {
  @ApiProperty({
    description: 'One sentence that says what to change',
    example: 'timeout: must not be greater than 300',
  })
  detail!: string;
}
