import { Dialog } from '@jupyterlab/apputils';

/** A dialog that stays open until what was asked is done or the person leaves. */
export class AskingDialog extends Dialog<unknown> {
  constructor(
    options: Partial<Dialog.IOptions<unknown>>,
    private readonly submit: () => Promise<boolean>
  ) {
    super(options);
    this.addClass('vb-AskingDialog');
  }

  resolve(index?: number): void {
    if (index === undefined || index === 1) {
      void this.ask();
    } else {
      super.resolve(index);
    }
  }

  private async ask(): Promise<void> {
    if (this.busy) {
      return;
    }
    this.busy = true;
    try {
      if (await this.submit()) {
        super.resolve(1);
      }
    } finally {
      this.busy = false;
    }
  }

  private busy = false;
}
