import { answered, api } from '../../api/client';
import type { Schemas, ShownRequest } from '../../api/requests';

type Request = Schemas['UploadedBatchRequest'];

/** The options that are the same for every row. The service fills in missing ones. */
export type BatchOptions = Pick<Request, 'agent_name'> & Partial<Omit<Request, 'input_mapping' | 'delimiter'>>;

export type BatchSource =
  | { items: Record<string, unknown>[] | undefined }
  | { file: File | undefined; mapping: Record<string, string> | undefined; delimiter: string | undefined };

const PATH = '/run/batch';

/** The field `request` of an upload. */
function uploadText(options: BatchOptions, source: Extract<BatchSource, { file: unknown }>): string {
  const { mapping, delimiter } = source;
  return JSON.stringify({ ...options, input_mapping: mapping, delimiter: delimiter === ',' ? undefined : delimiter });
}

/** Rejects with an ApiError. */
export function startBatch(options: BatchOptions, source: BatchSource): Promise<Schemas['BatchBody']> {
  if ('items' in source) {
    const body = { ...options, batch_inputs: source.items ?? [] } as Schemas['BatchRequest'];
    return answered(api.POST(PATH, { body }));
  }
  const form = new FormData();
  form.append('request', uploadText(options, source));
  form.append('file', source.file ?? new Blob());
  return answered(api.POST(PATH, { body: form as never }));
}

export function shownRequest(options: BatchOptions, source: BatchSource): ShownRequest {
  if ('items' in source) return { method: 'POST', path: PATH, body: { ...options, batch_inputs: source.items ?? [] } };
  const form = { files: { file: source.file?.name ?? 'inputs.csv' }, texts: { request: uploadText(options, source) } };
  return { method: 'POST', path: PATH, form };
}
