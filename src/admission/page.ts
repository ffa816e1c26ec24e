/** The generated page of the classes. */
import { classNames, classOf } from './classes.ts';
import type { QueueLimits } from './queue.ts';

const seconds = (ms: number) => (ms === 0 ? '' : `${ms / 1_000} s`);

const cellsOf = (limits: QueueLimits | undefined) =>
  limits ? [String(limits[0]), limits[1] === 0 ? 'none' : String(limits[1]), seconds(limits[2])] : ['', '', ''];

/** The text of `generated/admission.md`: a row for each class. */
export function describeClasses(): string {
  const rows = classNames.map((name) => {
    const { work, flow = 'user', user, process, within, places, pause } = classOf(name);
    const notes = [
      ...(flow === 'user' ? [] : [`counted by ${flow}`]),
      ...(within ? [`needs a place of \`${within}\` too`] : []),
      ...(places ? [`has the places of \`${places}\``] : []),
      ...(pause ? [`after ${pause.longMs} ms the next one waits ${pause.times} times as long, ${pause.maximumMs} ms at most`] : []),
    ];
    return [`\`${name}\``, work, ...cellsOf(user), ...cellsOf(process), notes.join('; ')].join(' | ');
  });
  return `<!-- Made of src/admission/classes.ts by \`npm test -- test/admission/classes.test.ts --update\`. Do not edit. -->

# Classes of work

For operators. Each row is a class of work, with what runs at once and what waits: first of one user, then of the whole process. A job that finds neither a place
nor room to wait is answered 503 \`busy\`; in a class where none waits a user with all of its places is answered 429. The metrics
\`entity_service_admission_*\` have the name as their label \`class\`.

| class | work | of a user: run | wait | for | of the process: run | wait | for | |
| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |
${rows.map((row) => `| ${row} |\n`).join('')}
\`pool\` has as many places as the pool has connections, and one less for a user. \`hashing\` has at most one for each core of a worker.
`;
}
