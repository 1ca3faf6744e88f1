import type { Rule, Values } from './limit-model.js';

/** In the form of a request that changes a limit. */
export const valueOptions = ({ concurrency, rate }: Values): object => ({
  ...(concurrency !== null && { concurrency }),
  ...(rate && { rate: `${rate.perSecond}/s`, burst: rate.burst }),
});

/** In the form of the configuration. */
export const limitOptions = (rule: Rule): object => ({
  ...valueOptions(rule),
  ...(rule.hold && { hold: true }),
  ...(rule.units && { units: rule.units }),
  ...(rule.isKeyed && { key: 'payload.key' }),
});
