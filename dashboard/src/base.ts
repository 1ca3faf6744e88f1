/**
 * The addresses of this app and of the API, taken from the address of this script, because a proxy may serve both
 * under a prefix. A built script is in `/dashboard/assets/`.
 */
const script = import.meta.url;

/** The folder of the app, with a slash at its end. */
export const APP_BASE = import.meta.env.DEV
  ? new URL(import.meta.env.BASE_URL, location.origin)
  : new URL('..', script);

/** The address that the paths of the API follow, without a slash at its end. */
export const API_BASE = new URL('..', APP_BASE).href.replace(/\/$/, '');
