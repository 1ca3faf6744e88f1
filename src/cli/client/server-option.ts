import { readEnvironment } from '../../config/environment.js';
import { serverUrl } from '../../config/server-url.js';
import { Server } from './server.js';

/** The server from `--url` or from the environment. Throws a SettingsError if that is not a URL. */
export const serverAt = (url: string | undefined): Server => new Server(serverUrl(url, readEnvironment()));
