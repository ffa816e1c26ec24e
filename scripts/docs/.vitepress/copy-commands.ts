/** What the copy button of a `console` block copies: the commands, without prompts and answers. */
import type { MarkdownOptions } from 'vitepress';

type ShikiTransformer = NonNullable<MarkdownOptions['codeTransformers']>[number];
type Code = Parameters<NonNullable<ShikiTransformer['code']>>[0];
type Child = Code['children'][number];

const textOf = (node: Child | undefined): string =>
  node?.type === 'text' ? node.value : node?.type === 'element' ? node.children.map((child) => textOf(child)).join('') : '';

/** VitePress copies nothing that has this class. */
const shownOnly = (...children: Child[]): Child => ({
  type: 'element',
  tagName: 'span',
  properties: { class: 'vp-copy-ignore' },
  children,
});

/** Marks the prompt of a command's first line, which is in the first text of the line. */
function markPrompt(line: Child): void {
  if (line.type !== 'element') return;
  const [first] = line.children;
  if (first?.type === 'text') {
    first.value = first.value.slice(2);
    line.children.unshift(shownOnly({ type: 'text', value: '$ ' }));
  } else if (first) markPrompt(first);
}

export const copyCommands: ShikiTransformer = {
  name: 'copy-commands',
  code(code) {
    if (this.options.lang !== 'console') return;
    const marked: Child[] = [];
    let lineBreak: Child[] = [];
    let continues = false;
    for (const node of code.children) {
      const text = textOf(node);
      if (text === '\n') {
        lineBreak = [node];
        continue;
      }
      const begins = text.startsWith('$ ');
      if (begins) markPrompt(node);
      marked.push(...(begins || continues ? [...lineBreak, node] : [shownOnly(...lineBreak, node)]));
      lineBreak = [];
      continues = (begins || continues) && text.endsWith('\\');
    }
    code.children = marked;
  },
};
