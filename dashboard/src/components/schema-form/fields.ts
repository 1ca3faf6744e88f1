import { descriptionId, errorId, type RJSFSchema } from '@rjsf/utils';

/** More choices than these are a list to open. */
const MOST_BUTTONS = 5;

/** Texts that may be longer than this get several lines. */
const LONGEST_LINE = 200;

const isOfType = ({ type }: RJSFSchema, name: string): boolean => [type].flat().includes(name as never);

export const isNumber = (schema: RJSFSchema): boolean => isOfType(schema, 'number') || isOfType(schema, 'integer');

export const isWhole = (schema: RJSFSchema): boolean => isOfType(schema, 'integer');

/** Whether several of its choices can be taken. */
const isMultiple = (schema: RJSFSchema): boolean => isOfType(schema, 'array') && schema.uniqueItems === true;

/** Returns true if it contains other fields. A legend names them. */
export const hasLegend = (schema: RJSFSchema): boolean =>
  isOfType(schema, 'object') || (isOfType(schema, 'array') && !isMultiple(schema));

/** Whether it is a group of buttons rather than one input, so that a label cannot refer to it. */
export const isGroup = (schema: RJSFSchema): boolean =>
  isOfType(schema, 'boolean') ||
  isMultiple(schema) ||
  isShort(((schema.enum ?? schema.oneOf) as unknown[] | undefined)?.length);

export const isShort = (choices: number | undefined): boolean => choices !== undefined && choices <= MOST_BUTTONS;

export const isLong = ({ maxLength = Infinity, format }: RJSFSchema): boolean =>
  format === undefined && maxLength > LONGEST_LINE;

/** The choice among alternatives has a separate id, because the chosen one has the id of the field. */
export const idOf = (id: string, schema: RJSFSchema): string =>
  schema.oneOf !== undefined && schema.type === undefined ? `${id}__choice` : id;

export interface Described {
  id: string;
  schema: RJSFSchema;
  rawErrors?: string[] | undefined;
}

/** The attributes that describe an input to assistive technology, besides its label. */
export function ariaOf({ id, schema, rawErrors = [] }: Described): {
  'aria-invalid'?: true;
  'aria-describedby'?: string;
} {
  const isWrong = rawErrors.length > 0;
  const ids = [isWrong && errorId(id), schema.description !== undefined && descriptionId(id)].filter(Boolean);
  return { ...(isWrong && { 'aria-invalid': true }), ...(ids.length > 0 && { 'aria-describedby': ids.join(' ') }) };
}
