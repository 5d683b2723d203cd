import type { Server } from 'node:http';
import { addressGroup } from './client-address.js';

/** Connections of a server at a time: the number that a page on hundreds of desks needs. Further ones are closed. */
export const maxConnections = 1000;

/**
 * Closes a connection at once when its address has as many as it may. Otherwise one client that opens connections and
 * sends nothing would take all of them.
 */
export function limitConnections(server: Server, perAddress: number): void {
  const open = new Map<string, number>();
  server.maxConnections = maxConnections;
  server.on('connection', (socket) => {
    const address = addressGroup(socket.remoteAddress);
    const count = open.get(address) ?? 0;
    if (count >= perAddress) {
      socket.destroy();
      return;
    }
    open.set(address, count + 1);
    socket.once('close', () => {
      const left = open.get(address)! - 1;
      if (left === 0) open.delete(address);
      else open.set(address, left);
    });
  });
}
