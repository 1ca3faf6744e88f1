/**
 * The modules of agents that answer immediately. They are not declared as pure, so their executions go through the queue, while
 * those of an expression are stored as completed by the transaction that adds them.
 */
export const QUEUED = {
  'done.js': 'export default () => ({});',
  'double.js': 'export default ([{ payload }]) => ({ n: payload.n * 2 });',
  'echo.js': 'export default ([{ payload }]) => payload;',
};
