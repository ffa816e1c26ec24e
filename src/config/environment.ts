/** The source of settings: the environment of the process and, outside production, the file `.env`. */
import { readEnvFile } from './env-file.ts';
import { nearName } from './near-name.ts';
import { ConfigError, problemsOfConfig, settingNames } from './settings.ts';

/**
 * `process.env`, completed from `.env` in the working directory unless NODE_ENV is production. Variables that are set already stay
 * unchanged. Throws {@link ConfigError} if a line or a name of the file has no meaning; it then has the problems of the values too.
 */
export function readEnvironment(): NodeJS.ProcessEnv {
  if (process.env['NODE_ENV'] !== 'production') {
    const { values, problems } = readEnvFile('.env', process.env);
    for (const [name, value] of Object.entries(values)) process.env[name] ??= value;
    if (problems.length > 0) throw new ConfigError([...problems, ...problemsOfConfig(process.env)]);
  }
  return process.env;
}

/** Of other programs, and near to a setting: `PGHOST` is near to `HOST`. */
const otherPrograms = /^(PG|npm_|OTEL_)/;

/** A sentence for each name in the environment that is no setting and near to one. Such a name is a guess, so it does not stop the start. */
export function misspeltSettings(environment: NodeJS.ProcessEnv): string[] {
  const known = settingNames();
  return Object.keys(environment)
    .filter((name) => !known.includes(name) && !otherPrograms.test(name))
    .flatMap((name) => {
      const near = nearName(name, known);
      return near === undefined ? [] : [`${name} is no setting: did you mean ${near}?`];
    });
}
