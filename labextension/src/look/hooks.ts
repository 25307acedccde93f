import type { TranslationBundle } from '@jupyterlab/translation';
import type { CommandRegistry } from '@lumino/commands';
import * as React from 'react';
import type { Store } from '../model/store';
import type { IVaibify } from '../tokens';
import { states, type IStates } from './states';

/** What every component may use. */
export interface IContext {
  readonly model: IVaibify;
  readonly commands: CommandRegistry;
  readonly trans: TranslationBundle;
  readonly table: IStates;
}

export const Context = React.createContext<IContext | null>(null);

/** Make what components use. */
export function context(
  model: IVaibify,
  commands: CommandRegistry,
  trans: TranslationBundle
): IContext {
  return { model, commands, trans, table: states(trans) };
}

/** What every component may use; there is no component outside it. */
export function useContext(): IContext {
  const value = React.useContext(Context);
  if (!value) {
    throw new Error('no context');
  }
  return value;
}

/** Whether the person is here to review: then nothing that records is offered. */
export function useReviewing(): boolean {
  return useStore(useContext().model.reviewing);
}

/** A store's value, or a part of it; the component is drawn again when that is another. */
export function useStore<T>(store: Store<T>): T;
export function useStore<T, P>(store: Store<T>, part: (value: T) => P): P;
export function useStore<T, P>(store: Store<T>, part?: (value: T) => P): T | P {
  const subscribe = React.useCallback(
    (tell: () => void) => {
      store.changed.connect(tell);
      return () => void store.changed.disconnect(tell);
    },
    [store]
  );
  return React.useSyncExternalStore(subscribe, () => (part ? part(store.value) : store.value));
}
