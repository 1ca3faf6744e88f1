import { durationText, sizeText } from '../../common/units.js';
import type { Settings } from '../../config/settings.js';
import { batchLimit } from '../../http/bodies/body-parser.js';

type Row = [bound: string, setting: string, value: string | number, answer: string];

/** Returns a Markdown table of the request limits that are settings, with the values of this server. */
export function configuredBounds(settings: Settings): string {
  const rows = [...bodies(settings), ...publishing(settings), ...webhooks(settings), ...streams(settings)];
  const table = rows.map(([bound, setting, value, answer]) => `| ${bound} | \`${setting}\` | ${value} | ${answer} |`);
  return [
    'Limits that are settings, with the values of this server:',
    '',
    '| limit | setting | value | beyond it |',
    '|---|---|---|---|',
    ...table,
  ].join('\n');
}

const bodies = ({
  bodyLimitBytes,
  requestTimeoutMs,
  uploadTimeoutMs,
  minTransferRateBytes,
  uploadSpaceBytes,
  memoryBudgetBytes,
}: Settings): Row[] => [
  ['size of a body, before and after decompression', 'body_limit', sizeText(bodyLimitBytes), '413'],
  ['size of the JSON body of `POST /run/batch`', 'body_limit', sizeText(batchLimit(bodyLimitBytes)), '413'],
  ['time for a body to arrive', 'request_timeout', durationText(requestTimeoutMs), '408'],
  ['time for an upload to arrive', 'upload_timeout', durationText(uploadTimeoutMs), '408'],
  ['lowest transfer rate of a body, per second', 'min_transfer_rate', sizeText(minTransferRateBytes), '408'],
  ['temporary files of uploads and long lists', 'upload_space', sizeText(uploadSpaceBytes), '503'],
  [
    "clients' data held in memory",
    'memory_budget',
    memoryBudgetBytes === null ? "a quarter of the process's heap" : sizeText(memoryBudgetBytes),
    '503',
  ],
];

const publishing = ({
  maxTtlMs,
  maxPendingExecutions,
  maxExecutionsWithoutAgent,
  maxWaitingArrivals,
  maxWaitingBatchBytes,
  csvRoot,
}: Settings): Row[] => [
  ['`ttl` of a visibility', 'max_ttl', durationText(maxTtlMs), '400'],
  ['pending executions', 'max_pending_executions', maxPendingExecutions, '503'],
  [
    'pending executions of agents that no process has',
    'max_executions_without_agent',
    maxExecutionsWithoutAgent,
    '503',
  ],
  [
    'artifacts waiting in joins, in batch windows or for their release',
    'max_waiting_arrivals',
    maxWaitingArrivals,
    '503',
  ],
  [
    'bytes that the waiting rows of all batches will store',
    'max_waiting_batch_bytes',
    sizeText(maxWaitingBatchBytes),
    '503',
  ],
  [
    'CSV files on the server that a batch may read',
    'csv_root',
    csvRoot === null ? 'none' : 'those in this folder',
    '400',
  ],
];

const webhooks = ({ clientWebhooks, clientWebhookHosts, clientWebhookPorts }: Settings): Row[] => [
  ['hosts of webhooks', 'client_webhooks', clientWebhooks, '400'],
  [
    'hosts of webhooks, if `client_webhooks` is `list`',
    'client_webhook_hosts',
    clientWebhookHosts.join(', ') || 'none',
    '400',
  ],
  ['ports of webhooks', 'client_webhook_ports', clientWebhookPorts.join(', '), '400'],
];

const streams = ({ maxStreams, maxStreamsPerAddress }: Settings): Row[] => [
  ['streams in one process', 'max_streams', maxStreams, '503'],
  ['streams from one address', 'max_streams_per_address', maxStreamsPerAddress, '503'],
];
