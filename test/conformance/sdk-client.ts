import { connect } from '@remotes-hub/client';
import { serveConformance } from './sdk-functions.js';

// A client that `remotes-hub conformance --client` can judge: the SDK, serving what the kit calls. It runs until it
// is stopped, or until the hub wants it no more.
await using hub = await connect(process.env['REMOTES_HUB_URL'] ?? '', {
  token: process.env['REMOTES_HUB_TOKEN'] ?? '',
});
await serveConformance(hub);
await hub.closed;
