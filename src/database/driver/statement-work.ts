/** What a statement is called where it is told what a request spends its time on. */
import type { SpanDescription } from '../../telemetry/spans.ts';

/** The piece of work that a statement is. Its text has places for values and no values. */
export function statementWork(name: string, text: string): SpanDescription {
  return { kind: 'database', name, attributes: { 'db.system.name': 'postgresql', 'db.query.text': text } };
}

/** The same for a statement without a name. */
export function unnamedWork(text: string): SpanDescription {
  return statementWork(nameOfText(text), text);
}

/** What a statement does and to which table, as in `insert audit_event`; its first word for want of better. */
function nameOfText(text: string): string {
  const [, verb = 'statement'] = /^\W*(\w+)/.exec(text) ?? [];
  const [, table] = /\b(?:from|into|update)\s+"(\w+)"/i.exec(text) ?? [];
  return table === undefined ? verb : `${verb} ${table}`;
}
