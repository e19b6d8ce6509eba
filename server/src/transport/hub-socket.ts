import { WebSocket } from 'ws';
import type { Outbox } from './outbox.js';

/** A socket whose outbox is emptied before a close frame is sent, whoever began: nothing can be sent after it. */
export class HubSocket extends WebSocket {
  outbox: Pick<Outbox, 'flush'> | undefined;

  override close(code?: number, data?: string | Buffer): void {
    this.outbox?.flush();
    super.close(code, data);
  }
}
