import { readEnvironment } from '../../config/environment.js';
import { serverUrl } from '../../config/server-url.js';
import { Server } from './server.js';

/** The server that `--url` names, or the environment. SettingsError where that is no URL. */
export const serverAt = (url: string | undefined): Server => new Server(serverUrl(url, readEnvironment()));
