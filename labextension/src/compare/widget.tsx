import { ReactWidget } from '@jupyterlab/ui-components';
import * as React from 'react';
import { Context, type IContext } from '../look/hooks';
import { Compare } from './compare';
import type { IPlot } from './versions';

/** A plot beside the version that was signed. */
export class Comparison extends ReactWidget {
  constructor(
    private readonly context: IContext,
    readonly plot: IPlot
  ) {
    super();
    this.addClass('vb-Comparison');
  }

  protected render(): JSX.Element {
    return (
      <Context.Provider value={this.context}>
        <Compare plot={this.plot} />
      </Context.Provider>
    );
  }
}
