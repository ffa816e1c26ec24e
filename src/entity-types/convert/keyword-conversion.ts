/** The form of a conversion of a keyword, and the simple conversions. */
import type { Schema } from '../subschemas.ts';
import type { Dialect } from './dialect.ts';

/** A keyword, the schema around it, and how its conversion reaches what is outside of it. */
export interface KeywordContext {
  keyword: string;
  schema: Schema;
  dialect: Dialect;
  /** Whether the schema is the whole document. */
  isRoot: boolean;
  /** Reports what was changed or dropped. */
  note: (text: string) => void;
  /** Reports what cannot be converted, and what to do. */
  refuse: (text: string) => void;
  /** Converts a schema inside of the keyword, at these steps from there. */
  inner: (schema: unknown, ...steps: string[]) => unknown;
}

/** The members that stand in place of a keyword. */
export type KeywordConversion = (value: unknown, context: KeywordContext) => Schema;

/** Leaves out the keyword, with the reason in a note. */
export const dropKeyword =
  (reason: string): KeywordConversion =>
  (_value, { note }) => {
    note(`dropped: ${reason}`);
    return {};
  };

export const copyKeyword: KeywordConversion = (value, { keyword }) => ({ [keyword]: value });

/** Of keywords that other conversions of the same schema have read. */
export const noMembers: KeywordConversion = () => ({});

/** Of an annotation whose value has another type in some tools. */
export const annotationOf =
  (type: 'string' | 'boolean'): KeywordConversion =>
  (value, context) =>
    typeof value === type ? copyKeyword(value, context) : dropKeyword(`it is no ${type}`)(value, context);
