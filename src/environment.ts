/** Where settings come from: the process's environment and, in development, the file `.env`. What they mean is the business of `config.ts`. */
import { loadEnvFile } from 'node:process';

/** `process.env`, completed from `.env` in the working directory unless NODE_ENV is production. What is set already stays as it is. */
export function readEnvironment(): NodeJS.ProcessEnv {
  if (process.env['NODE_ENV'] !== 'production') {
    try {
      loadEnvFile();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
  return process.env;
}
