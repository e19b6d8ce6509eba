import { WebSocket } from 'ws';

/** A socket that tells when a close frame is about to be sent, whoever began: nothing can be sent after it. */
export class HubSocket extends WebSocket {
  onClosing: (() => void) | undefined;

  override close(code?: number, data?: string | Buffer): void {
    this.onClosing?.();
    super.close(code, data);
  }
}
