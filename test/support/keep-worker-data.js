// Loaded by the workers of Jest before anything else. When one of them asks for the configuration of the run, the runner
// (jest-light-runner 0.8) sends it to all that have a suite, and no second time. A worker that has not asked yet would miss
// it, and wait for ever.
const ASK = 'jest-light-runner-get-worker-data';

if (process.env.TINYPOOL_WORKER_ID && process.send) {
  // Programs that tests start are not workers.
  process.env.NODE_OPTIONS = process.env.NODE_OPTIONS.replaceAll(` --import ${import.meta.url}`, '');
  let kept;
  process.on('message', (message) => {
    if (message?.type === 'jest-light-runner-worker-data') kept = message;
  });
  const send = process.send.bind(process);
  process.send = (message, ...rest) => {
    if (message === ASK && kept) return process.emit('message', kept);
    return send(message, ...rest);
  };
}
