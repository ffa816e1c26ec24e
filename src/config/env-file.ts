/**
 * The file `.env`. Node.js parses its values and ignores everything else, so that a misspelt setting would have no effect. Here each line is a
 * setting, a comment or empty, and each name is known.
 */
import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { nearName } from './near-name.ts';
import { settingNames } from './settings.ts';

/** A name and its value, in quotation marks or up to the end of the line, as `parseEnv` reads them. */
const settingLine =
  /[ \t]*(?:export +)?([A-Za-z_]\w*)[ \t]*=[ \t]*(?:("[^"]*"|'[^']*'|`[^`]*`)[ \t]*(?:#.*)?|(?![ \t]*["'`])(.*))(?:\n|$)/y;
const otherLine = /[ \t]*(?:#.*)?(?:\n|$)/y;

/** Anything else in the place of a name may be a part of a secret, such as the second line of a wrapped one, and is not repeated. */
const usualName = /^[A-Z][A-Z\d_]{0,39}$/;

/** What Node.js, libuv and OpenSSL read before this file is read. */
const readEarlier = /^(NODE_(OPTIONS|EXTRA_CA_CERTS|COMPILE_CACHE|USE_ENV_PROXY)|UV_THREADPOOL_SIZE|SSL_CERT_(FILE|DIR)|NPM_CONFIG_\w+)$/i;
/** What OpenTelemetry, node-postgres and Node.js read afterwards. */
const readLater = /^(OTEL_\w+|PG[A-Z]+|TZ|NODE_TLS_REJECT_UNAUTHORIZED)$/;

export interface EnvFile {
  values: NodeJS.Dict<string>;
  /** All lines that are no setting and all unknown, repeated and ineffective names, without their values. */
  problems: string[];
}

/**
 * The file at `path`; without values if there is no such file. `environment` may name ISSUERS_FILE, whose variables are known names too.
 */
export function readEnvFile(path: string, environment: NodeJS.ProcessEnv): EnvFile {
  const text = readText(path)
    ?.replace(/^\uFEFF/, '')
    .replaceAll('\r\n', '\n');
  if (text === undefined) return { values: {}, problems: [] };
  const values = parseEnv(text);
  const { settings, problems } = scan(text);
  const misread = [...settings].find(([name, { value }]) => values[name] !== value);
  if (problems.length === 0 && misread) problems.push({ line: misread[1].lines[0] ?? 1, reason: misreadReason });
  const issuers = environment['ISSUERS_FILE'] ?? values['ISSUERS_FILE'];
  const found = problems.map(({ line, reason }) => `line ${line} of ${path} ${reason}`);
  return { values, problems: [...found, ...nameProblems(path, settings, issuers ? readText(issuers) : '')] };
}

const misreadReason = 'is not what Node.js reads: remove the blanks around =, or put the value in quotation marks';

interface Scanned {
  /** The lines of each name, and its last value. */
  settings: Map<string, { lines: number[]; value: string }>;
  problems: { line: number; reason: string }[];
}

function scan(text: string): Scanned {
  const scanned: Scanned = { settings: new Map(), problems: [] };
  let line = 1;
  for (let index = 0; index < text.length;) {
    const found = matchAt(settingLine, text, index) ?? matchAt(otherLine, text, index);
    const end = found ? index + found[0].length : text.indexOf('\n', index) + 1 || text.length;
    const [, name, quoted, plain = ''] = found ?? [];
    if (!found) scanned.problems.push({ line, reason: 'is no setting: write NAME=value, with both quotation marks or none' });
    else if (/\S#/.test(plain))
      scanned.problems.push({ line, reason: 'has a # in its value, where a comment would begin: put the value in quotation marks' });
    if (name !== undefined) {
      const lines = [...(scanned.settings.get(name)?.lines ?? []), line];
      scanned.settings.set(name, { lines, value: quoted === undefined ? plainValue(plain) : quotedValue(quoted) });
    }
    line += text.slice(index, end).split('\n').length - 1;
    index = end;
  }
  return scanned;
}

const plainValue = (text: string): string => text.replace(/#.*/, '').replace(/^[ \t]+|[ \t]+$/g, '');
const quotedValue = (text: string): string => (text.startsWith('"') ? text.replaceAll(String.raw`\n`, '\n') : text).slice(1, -1);

function matchAt(pattern: RegExp, text: string, index: number): RegExpExecArray | null {
  pattern.lastIndex = index;
  return pattern.exec(text);
}

/** `issuers` is the text of ISSUERS_FILE, which names the variables of its secrets; undefined if it cannot be read: then any name may be one. */
function nameProblems(path: string, settings: Scanned['settings'], issuers: string | undefined): string[] {
  const known = settingNames();
  return [...settings].flatMap(([name, { lines }]) => {
    const [line, second] = lines;
    const near = nearName(name, known);
    const isName = near !== undefined || usualName.test(name) || readEarlier.test(name);
    const subject = `${isName ? name : 'the name'} in line ${line} of ${path}`;
    if (second !== undefined) return [`${subject} is repeated in line ${second}: remove one of them`];
    if (readEarlier.test(name))
      return [`${subject} has no effect, because it is read before the file: set it in the environment of the process`];
    if (known.includes(name) || readLater.test(name)) return [];
    if (issuers === undefined || new RegExp(`\\b${name}\\b`).test(issuers)) return [];
    return [`${subject} is no setting${near ? `: did you mean ${near}?` : '; docs/settings.md lists all of them'}`];
  });
}

/** Undefined if there is no such file. */
function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
