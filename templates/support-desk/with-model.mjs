// Runs a command with a language model: with OpenAI's where OPENAI_API_KEY is set, otherwise with the stand-in of model.mjs, which always
// gives the answer below.
//
// node with-model.mjs npx starling dev
import { spawn } from 'node:child_process';

const env = { ...process.env };
if (!env.OPENAI_API_KEY) {
  process.env.PORT ??= '9003';
  process.env.ANSWER = JSON.stringify({
    intent: 'card_arrival',
    text: 'Your card is on its way. (This is the answer of a stand-in: set OPENAI_API_KEY to ask a model.)',
  });
  await import('./model.mjs');
  Object.assign(env, { OPENAI_API_KEY: 'none', RESPONDER_URL: `http://127.0.0.1:${process.env.PORT}/v1` });
}

const [command, ...args] = process.argv.slice(2);
const child = spawn(command, args, { env, stdio: 'inherit' });
child.once('error', ({ message }) => {
  console.error(message);
  process.exit(1);
});
// Ctrl-C reaches the command too; this process waits for its end.
process.on('SIGINT', () => {});
process.on('SIGTERM', () => child.kill('SIGTERM'));
child.once('exit', (code) => process.exit(code ?? 1));
