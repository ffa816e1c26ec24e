/** The index of the decisions, a line for each. The decisions themselves are in `docs/decisions`, a file for each reader. */
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

/** The anchor of a heading, as GitHub makes it. */
const anchorOf = (title: string): string =>
  title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-');

/** The text of `docs/decisions.md` for the project at `root`. */
export function generateDecisionIndex(root: string): string {
  const files = globSync('docs/decisions/*.md', { cwd: root }).toSorted();
  const titles = files.flatMap((file) =>
    [...readFileSync(join(root, file), 'utf8').matchAll(/^## (\d+)\. (.+)$/gm)].map(([, number = '', title = '']) => ({
      number: Number(number),
      line: `- ${number} [${title}](decisions/${basename(file)}#${anchorOf(`${number}. ${title}`)})`,
    })),
  );
  const lines = titles.toSorted((a, b) => a.number - b.number).map(({ line }) => line);
  return `# Decisions

For those who ask why something is as it is. Each decision has the context, the decision and its consequence. They are sorted by reader:
[the API](decisions/api.md), [rights and sign-ins](decisions/rights.md), [entities](decisions/entities.md),
[the database](decisions/database.md), [operations](decisions/operations.md), [tooling](decisions/tooling.md). Numbers do not change; a
replaced decision names the one that replaces it.

<!-- Written by \`npm run generate\` from the files of docs/decisions. -->

${lines.join('\n')}
`;
}
