/** Why a directory or a file of a setting cannot be written, in words for the operator. */

const reasons: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the quota of the disk is used up',
  EROFS: 'its file system is read-only',
  EACCES: 'this user may not write there',
  EPERM: 'this user may not write there',
};

/** The reason, with the code of the operating system; undefined for an error that says something else. */
export function diskFailure(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
  const reason = reasons[code];
  return reason && `${reason} (${code})`;
}
