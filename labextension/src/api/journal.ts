import type { ServerConnection } from '@jupyterlab/services';
import type { IJournalLine } from './answers';
import { socketAddress } from './connection';

const ENDINGS = new Set(['runComplete', 'runRefused', 'jobDone', 'jobFailed', 'jobCancelled']);
const SILENCE = 30_000;
const FIRST_WAIT = 500;
const LONGEST_WAIT = 15_000;

export interface IFollower {
  line(line: IJournalLine): void;
  /** The connection opened or was lost; at the end neither. */
  connected(open: boolean): void;
}

/**
 * Follows a journal to its end. The server replays from any sequence number, so a lost connection
 * or a restarted server costs nothing but the wait.
 */
export class Journal {
  constructor(
    private readonly settings: ServerConnection.ISettings,
    private readonly path: string,
    private readonly follower: IFollower
  ) {
    this.open();
  }

  /** Stop following. */
  dispose(): void {
    this.over = true;
    clearTimeout(this.timer);
    this.socket?.close();
  }

  private open(): void {
    const query = { after: String(this.after) };
    const socket = new this.settings.WebSocket(socketAddress(this.settings, this.path, query));
    this.socket = socket;
    this.watch();
    socket.onopen = () => {
      this.wait = FIRST_WAIT;
      this.follower.connected(true);
    };
    socket.onmessage = message => this.take(String(message.data));
    socket.onclose = () => this.closed(socket);
  }

  private take(text: string): void {
    if (this.over) {
      return;
    }
    this.watch();
    const line = JSON.parse(text) as IJournalLine;
    if (line.event === 'hello' || line.event === 'alive') {
      return;
    }
    this.after = Math.max(this.after, line.sequence ?? 0);
    this.over = ENDINGS.has(line.event);
    this.follower.line(line);
    if (this.over) {
      this.dispose();
    }
  }

  private closed(socket: WebSocket): void {
    if (this.over || socket !== this.socket) {
      return;
    }
    clearTimeout(this.timer);
    this.follower.connected(false);
    this.timer = window.setTimeout(() => this.open(), this.wait);
    this.wait = Math.min(this.wait * 2, LONGEST_WAIT);
  }

  /** A connection can be dead without being closed: silence tells. */
  private watch(): void {
    clearTimeout(this.timer);
    const socket = this.socket;
    this.timer = window.setTimeout(() => {
      if (socket) {
        this.closed(socket);
        this.socket = null;
        socket.close();
      }
    }, SILENCE);
  }

  private socket: WebSocket | null = null;
  private after = 0;
  private over = false;
  private timer = 0;
  private wait = FIRST_WAIT;
}
