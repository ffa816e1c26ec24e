/** Rights as the texts of files. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Document, isCollection, isScalar, isSeq, visit } from 'yaml';
import type { RightsDocuments } from '../../rights/documents.ts';

/** The text of each file by its path in the directory, as `readRightsDirectory` reads it. */
export function filesOfRights({ attributes, roles, profiles }: RightsDocuments): ReadonlyMap<string, string> {
  const { user, profile } = attributes;
  const declared = {
    ...(user.size > 0 && { user: Object.fromEntries(user) }),
    ...(profile.size > 0 && { profile: Object.fromEntries(profile) }),
  };
  return new Map([
    ...(Object.keys(declared).length > 0 ? [['attributes.yaml', textOf(declared)] as const] : []),
    ...[...roles].map(
      ([name, { description, grants }]) => [`roles/${name}.yaml`, textOf({ ...(description !== '' && { description }), grants })] as const,
    ),
    ...[...profiles].map(([name, { label, locale, roles: names, attributes: values }]) => {
      const others = { ...(locale !== null && { locale }), ...(Object.keys(values).length > 0 && { attributes: values }) };
      return [`profiles/${name}.yaml`, textOf({ label, roles: names, ...others })] as const;
    }),
  ]);
}

/** The members whose values take one line. */
const inOneLine: readonly unknown[] = ['filter', 'check', 'set'];

function textOf(value: object): string {
  const document = new Document(value, { aliasDuplicateObjects: false });
  visit(document, {
    Pair: (_, { key, value: member }) => {
      if (isScalar(key) && inOneLine.includes(key.value) && isCollection(member)) member.flow = true;
      if (isSeq(member) && member.items.every(isScalar)) member.flow = true;
    },
  });
  return document.toString({ lineWidth: 140, singleQuote: true });
}

/** Writes the files into a new directory. Fails with `EEXIST` if there is something of its name. */
export async function writeRightsDirectory(directory: string, files: ReadonlyMap<string, string>): Promise<void> {
  await mkdir(directory);
  for (const folder of ['roles', 'profiles']) await mkdir(join(directory, folder));
  for (const [path, text] of files) await writeFile(join(directory, path), text, { flag: 'wx' });
}
