/** The first start in production, where the password of the first administrator is in a file. */
import type { Started } from './start.ts';

export const production = { NODE_ENV: 'production', PUBLIC_URL: 'https://api.example.com', TRUST_PROXY: '127.0.0.1' };

/** The status of a sign-in as the first administrator. */
export async function signIn({ url }: Started, password: string): Promise<number> {
  return (await fetch(`${url}/auth`, { method: 'POST', body: new URLSearchParams({ user: 'admin', password }) })).status;
}

/** The path of the file that the service printed. */
export const fileIn = (told: string) => /^ {4}user {6}admin\n {4}file {6}(\S+)$/m.exec(told)?.[1];
