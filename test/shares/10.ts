import { runShare } from './run-share.js';

await runShare();
