import { useQuery, type UseQueryResult } from '@tanstack/react-query';

import { type CsvPreview, type Delimiter, readPreview } from './csv-preview';

/** Reads the beginning of the file, and again with another delimiter. */
export function usePreview(file: File | undefined, delimiter: Delimiter | undefined): UseQueryResult<CsvPreview> {
  return useQuery<CsvPreview>({
    queryKey: ['preview of a CSV file', file?.name, file?.size, file?.lastModified, delimiter],
    queryFn: () => readPreview(file!, delimiter),
    enabled: file !== undefined,
    retry: false,
    // Without these, the rows of another file would be shown for a moment, and a file that was changed stays as it was.
    placeholderData: undefined,
    gcTime: 0,
  });
}
