/** The source of settings: the environment of the process and, outside production, the file `.env`. */
import { readEnvFile } from './env-file.ts';

/**
 * `process.env`, completed from `.env` in the working directory unless NODE_ENV is production. Variables that are set already stay
 * unchanged. Throws ConfigError if a line or a name of the file has no meaning.
 */
export function readEnvironment(): NodeJS.ProcessEnv {
  if (process.env['NODE_ENV'] !== 'production') {
    for (const [name, value] of Object.entries(readEnvFile('.env', process.env))) process.env[name] ??= value;
  }
  return process.env;
}
