/** A configuration with one mistake, and the only line that `starling check` prints about it, after its severity. */
export type Mistake = [what: string, text: string, line: string];

interface Keys {
  consumes?: string;
  publishes?: string;
  engine?: string;
  /** The lines before `agents`. */
  types?: string;
}

/** An agent `a`. `rest` are further lines of it, indented by four spaces, or of agents after it. */
export const withAgent = (
  rest = '',
  {
    consumes = '[{ types: [Order] }]',
    publishes = '[{ type: Reply }]',
    engine = '{ kind: external }',
    types = '',
  }: Keys = {},
): string => `${types}agents:
  a:
    consumes: ${consumes}
    publishes: ${publishes}
    engine: ${engine}
${rest}`;

export const CLOSED = `types:
  Order:
    schema: { type: object, additionalProperties: false, required: [total], properties: { total: { type: number }, text: { type: string } } }
  Invoice:
    schema: { type: object, additionalProperties: false, required: [state], properties: { state: { enum: [open, paid] }, total: { type: number } } }
`;

export const OPEN = `types:
  Order:
    schema: { type: object, properties: { total: { type: number }, text: { type: string } } }
`;

export const withWhere = (where: string, types = CLOSED, subscription = 'types: [Order]'): string =>
  withAgent('', { types, consumes: `\n      - ${subscription}\n        where: ${where}` });

export const withAnswer = (expression: string): string =>
  withAgent('', {
    types: CLOSED,
    publishes: '[{ type: Invoice }]',
    engine: `\n      kind: expression\n      expression: |\n        ${expression}`,
  });

export const withSchema = (schema: string): string => `types:\n  Order:\n    schema: ${schema}\n`;
