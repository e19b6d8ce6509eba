/** A WAMP router: it routes calls by itself. */
import Router from 'fox-wamp';
import { announce } from '../servers/instruments.js';

const router = new Router();
router.getRealm('bench', () => {
  const server = router.listenWAMP({ port: 0, host: '127.0.0.1' });
  server.on('listening', () => {
    const address = server.address();
    if (typeof address === 'object' && address !== null) announce({ url: `ws://127.0.0.1:${address.port}` });
  });
});
