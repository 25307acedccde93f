import { Dialog, Notification } from '@jupyterlab/apputils';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { IToSign } from '../api/answers';
import { asRefusal } from '../api/connection';
import { brief } from '../look/words';
import { SignOffBody } from '../panel/signOffBody';
import type { IVaibify } from '../tokens';
import { sentence, told } from './told';

/** Show what would be signed, take a person's word, record it over exactly those bytes. */
export async function signOff(
  model: IVaibify,
  trans: TranslationBundle,
  slug: string
): Promise<void> {
  const project = model.project.value;
  if (!project) {
    return;
  }
  const found = await told(trans, model.api.signOffs(project.id, slug));
  if (!found) {
    return;
  }
  if (!found.to_sign) {
    const refused = found.refused ?? { text: trans.__('there is nothing to sign') };
    Notification.warning(brief(sentence(refused)), { autoClose: 10_000 });
    return;
  }
  const name = model.status.value.value?.steps.find(step => step.slug === slug)?.name ?? slug;
  const body = new SignOffBody(trans, found.to_sign, found.name ?? '');
  const dialog = new SignOffDialog(trans, brief(name, 60), body, async word => {
    await model.api.signOff(project.id, slug, { ...word, ...seen(body.toSign) });
    void model.status.again();
  });
  await dialog.launch();
}

function seen(toSign: IToSign): { run_id: string; hashes: Record<string, string> } {
  return { run_id: toSign.run_id, hashes: toSign.hashes };
}

interface IWord {
  verdict: string;
  by: string;
  note: string;
}

/** Stays open until the word is recorded or the person leaves. */
class SignOffDialog extends Dialog<unknown> {
  constructor(
    private readonly trans: TranslationBundle,
    step: string,
    private readonly form: SignOffBody,
    private readonly record: (word: IWord) => Promise<void>
  ) {
    super({
      title: trans.__('Sign off %1', step),
      body: form,
      focusNodeSelector: 'input[type=radio]',
      buttons: [
        Dialog.cancelButton({ label: trans.__('Cancel') }),
        Dialog.okButton({ label: trans.__('Sign off') })
      ]
    });
    this.addClass('vb-SignOffDialog');
  }

  resolve(index?: number): void {
    if (index === undefined || index === 1) {
      void this.submit();
    } else {
      super.resolve(index);
    }
  }

  private async submit(): Promise<void> {
    const word = this.form.word();
    if (!word || this.busy) {
      return;
    }
    this.busy = true;
    try {
      await this.record(word);
      super.resolve(1);
    } catch (error) {
      this.refused(error);
    } finally {
      this.busy = false;
    }
  }

  private refused(error: unknown): void {
    const refusal = asRefusal(error);
    const now = refusal.body.to_sign as IToSign | null | undefined;
    if (refusal.code === 'bytes-changed' && now) {
      const text = this.trans.__(
        'The bytes changed since they were shown. These are the new ones.'
      );
      this.form.replace(now, text);
    } else {
      this.form.complain(sentence(refusal));
    }
  }

  private busy = false;
}
