/** Follows the files of secrets, so that a secret changes without a restart (decision 176). */
import type { FastifyBaseLogger } from 'fastify';
import type { FollowedFile } from '../config/secret-file.ts';

const reloadIntervalMs = 5_000;

/** Looks at `files` every five seconds until the returned function is called. Logs each change and each problem once. */
export function followSecretFiles(files: readonly FollowedFile[], log: FastifyBaseLogger): () => void {
  for (const file of files) {
    file.onChange = (problem) => {
      if (problem === undefined) log.info({ event: 'secret.changed', file: file.name });
      else log.error({ event: 'secret.refused', file: file.name }, `${problem}; the value from before stays in force`);
    };
  }
  const timer = setInterval(() => files.forEach((file) => void file.reload()), reloadIntervalMs).unref();
  return () => clearInterval(timer);
}
