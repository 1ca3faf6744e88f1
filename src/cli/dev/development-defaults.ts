/** Settings that have another default in `starling dev`, by name. */
export const DEVELOPMENT_DEFAULTS: Readonly<Record<string, string>> = {
  dashboard: 'true',
  error_stacks: 'true',
  // A restart hands running attempts back, and they run again.
  shutdown_grace: '2s',
};
