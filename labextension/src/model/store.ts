import { Signal, type ISignal } from '@lumino/signaling';

/** A value that is replaced, never changed, and tells when it was. */
export class Store<T> {
  constructor(private current: T) {}

  get value(): T {
    return this.current;
  }

  get changed(): ISignal<this, T> {
    return this.signal;
  }

  /** Put another value; the same one tells nobody. */
  set(value: T): void {
    if (!Object.is(value, this.current)) {
      this.current = value;
      this.signal.emit(value);
    }
  }

  private readonly signal = new Signal<this, T>(this);
}
