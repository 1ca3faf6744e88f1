import { durationText } from '../../common/durations.js';
import type { Settings } from '../../config/settings.js';
import { sizeText } from '../../config/sizes.js';
import { batchLimit } from '../../http/bodies/body-parser.js';

type Row = [bound: string, setting: string, value: string | number, answer: string];

/** The bounds of requests that are settings, with the values that they have here, in Markdown. */
export function configuredBounds(settings: Settings): string {
  const rows = [...bodies(settings), ...publishing(settings), ...webhooks(settings), ...streams(settings)];
  const table = rows.map(([bound, setting, value, answer]) => `| ${bound} | \`${setting}\` | ${value} | ${answer} |`);
  return ['Bounds that are settings, as they are set here:', '', '| bound | setting | here | past it |', '|---|---|---|---|', ...table].join('\n');
}

const bodies = ({ bodyLimitBytes, requestTimeoutMs, uploadTimeoutMs, minTransferRateBytes, uploadSpaceBytes, memoryBudgetBytes }: Settings): Row[] => [
  ['a body, after decompression too', 'body_limit', sizeText(bodyLimitBytes), '413'],
  ['the JSON body of `POST /run/batch`', 'body_limit', sizeText(batchLimit(bodyLimitBytes)), '413'],
  ['a body arrives within', 'request_timeout', durationText(requestTimeoutMs), '408'],
  ['an upload arrives within', 'upload_timeout', durationText(uploadTimeoutMs), '408'],
  ['rate of a body, in a second', 'min_transfer_rate', sizeText(minTransferRateBytes), '408'],
  ['temporary files of uploads and long lists', 'upload_space', sizeText(uploadSpaceBytes), '503'],
  ["clients' data held in memory", 'memory_budget', memoryBudgetBytes === null ? "a quarter of the process's heap" : sizeText(memoryBudgetBytes), '503'],
];

const publishing = ({ maxTtlMs, maxPendingExecutions, maxExecutionsWithoutAgent, maxWaitingArrivals, maxWaitingBatchBytes, csvRoot }: Settings): Row[] => [
  ['`ttl` of a visibility', 'max_ttl', durationText(maxTtlMs), '400'],
  ['executions that wait', 'max_pending_executions', maxPendingExecutions, '503'],
  ['executions that wait for agents that no process has', 'max_executions_without_agent', maxExecutionsWithoutAgent, '503'],
  ['artifacts that wait in joins, in batch windows or for their release', 'max_waiting_arrivals', maxWaitingArrivals, '503'],
  ['what waiting rows of all batches will store', 'max_waiting_batch_bytes', sizeText(maxWaitingBatchBytes), '503'],
  ['batches over CSV files of the server', 'csv_root', csvRoot === null ? 'none' : 'those in its folder', '400'],
];

const webhooks = ({ clientWebhooks, clientWebhookHosts, clientWebhookPorts }: Settings): Row[] => [
  ['hosts of webhooks', 'client_webhooks', clientWebhooks, '400'],
  ['hosts of webhooks, where `client_webhooks` is `list`', 'client_webhook_hosts', clientWebhookHosts.join(', ') || 'none', '400'],
  ['ports of webhooks', 'client_webhook_ports', clientWebhookPorts.join(', '), '400'],
];

const streams = ({ maxStreams, maxStreamsPerAddress }: Settings): Row[] => [
  ['streams in one process', 'max_streams', maxStreams, '503'],
  ['streams from one address', 'max_streams_per_address', maxStreamsPerAddress, '503'],
];
