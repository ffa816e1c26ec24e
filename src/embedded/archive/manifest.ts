/** What PostgreSQL says of a base backup: each of its files with a SHA-256, and the log that it needs (https://www.postgresql.org/docs/18/backup-manifest-format.html). */
import { createHash } from 'node:crypto';
import { TransferRefused } from '../../database/transfer/load.ts';
import { parseLsn } from './segments.ts';

export interface Manifest {
  /** The SHA-256 of each file, in hexadecimal, by its path below the cluster. */
  checksums: Map<string, string>;
  /** Sum of the sizes. */
  bytes: number;
  timeline: number;
  /** Where the log begins that a restore needs, and where the copy is consistent. */
  start: bigint;
  end: bigint;
}

interface Text {
  Files: { Path: string; Size: number; Checksum: string }[];
  'WAL-Ranges': { Timeline: number; 'Start-LSN': string; 'End-LSN': string }[];
  'Manifest-Checksum': string;
}

const lastLine = '"Manifest-Checksum"';

/** Throws {@link TransferRefused} if the text was changed. `file` is for the message. */
export function parseManifest(file: string, text: string): Manifest {
  const parsed = parse(text);
  const hash = createHash('sha256').update(text.slice(0, text.lastIndexOf(lastLine)));
  const [range] = parsed?.['WAL-Ranges'] ?? [];
  if (!parsed || !range || hash.digest('hex') !== parsed['Manifest-Checksum']) throw new TransferRefused(`${file} is damaged`);
  return {
    checksums: new Map(parsed.Files.map(({ Path, Checksum }) => [Path, Checksum])),
    bytes: parsed.Files.reduce((sum, { Size }) => sum + Size, 0),
    timeline: range.Timeline,
    start: parseLsn(range['Start-LSN']),
    end: parseLsn(range['End-LSN']),
  };
}

function parse(text: string): Text | undefined {
  try {
    return JSON.parse(text) as Text;
  } catch {
    return undefined;
  }
}
