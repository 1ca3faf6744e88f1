import { Output } from './printing/output.js';
import { type Server, serverAt } from './server.js';

/** The options of every command that talks to a server. */
export interface ClientOptions {
  url?: string;
  json?: boolean;
}

/** Returns the server and the output of a command. Throws a SettingsError if the address of the server is not a URL. */
export const connectionOf = ({ url, json = false }: ClientOptions): { server: Server; output: Output } => ({
  server: serverAt(url),
  output: new Output(json),
});
