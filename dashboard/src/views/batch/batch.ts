import type { Schemas } from '../../api/requests';

export type Batch = Schemas['BatchBody'];

export const BATCH_PATH = '/batch/{batch_id}';

export const isOpen = ({ status }: Batch): boolean => status === 'starting' || status === 'running';
