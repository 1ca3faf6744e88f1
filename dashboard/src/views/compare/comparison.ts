import type { Answer } from '../../api/requests';

export const PATH = '/api/v1/compare';

export type Comparison = Answer<typeof PATH>;
export type ComparedCorrelation = Comparison['left'];
export type ComparedAgent = Comparison['agents'][number];
export type Pair = Comparison['items'][number];
