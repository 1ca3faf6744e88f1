/** The characters that a header carries unchanged. Ids that are sent in headers consist of them. */
export const isVisibleAscii = (value: unknown, maxLength: number): value is string =>
  typeof value === 'string' && value.length <= maxLength && /^[\x21-\x7e]+$/.test(value);

export const visibleAsciiRule = (maxLength: number): string => `must be 1 to ${maxLength} visible ASCII characters`;
