/** The services that this one is measured beside, installed and started one after the other. */
import { directus } from './peers/directus.ts';
import { installation } from './peers/install.ts';
import { parseServer } from './peers/parse-server.ts';
import { startPeer, type Operations, type Peer, type RunningPeer } from './peers/peer.ts';

/**
 * Installs what has not been installed yet, and returns what starts them all on databases of their own on the server at `serverUrl`.
 * `note` hears what is about to be done. Rejects with what npm says.
 */
export async function installPeers(
  note: (text: string) => void,
  opened: AsyncDisposableStack,
): Promise<(serverUrl: string) => Promise<RunningPeer[]>> {
  return await installThese<Operations>([parseServer, directus], note, opened);
}

/** The same for these peers. */
export async function installThese<O>(
  peers: readonly Peer<O>[],
  note: (text: string) => void,
  opened: AsyncDisposableStack,
): Promise<(serverUrl: string) => Promise<RunningPeer<O>[]>> {
  const installed: { peer: Peer<O>; directory: string }[] = [];
  for (const peer of peers) installed.push({ peer, directory: await installation(peer.package, note, opened) });
  return async (serverUrl) => {
    const running: RunningPeer<O>[] = [];
    for (const { peer, directory } of installed) {
      note(`start: ${peer.package.title} ${peer.package.version}`);
      running.push(await startPeer(peer, directory, serverUrl, opened));
    }
    return running;
  };
}
