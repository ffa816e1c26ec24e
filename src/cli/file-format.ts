/** The formats of files of entities. */
export type FileFormat = 'ndjson' | 'csv';

/** The format that the user names, otherwise the one at the end of the file name: CSV for `.csv`, else NDJSON. */
export const formatOf = (file: string, format: FileFormat | undefined): FileFormat => format ?? (/\.csv$/i.test(file) ? 'csv' : 'ndjson');
