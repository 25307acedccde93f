import { Dialog } from '@jupyterlab/apputils';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { IToSign } from '../api/answers';
import { asRefusal, type Refusal } from '../api/connection';
import { brief } from '../look/words';
import { SignOffBody } from '../panel/signOffBody';
import type { IVaibify } from '../tokens';
import { AskingDialog } from './asking';
import { complain, sentence, told } from './told';

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
    complain(trans, found.refused ?? { text: trans.__('there is nothing to sign') }, 'warning');
    return;
  }
  const name = model.status.value.value?.steps.find(step => step.slug === slug)?.name ?? slug;
  const body = new SignOffBody(trans, found.to_sign, found.name ?? '');
  const record = async (): Promise<boolean> => {
    const word = body.word();
    return word !== null && recorded(model, trans, project.id, slug, body, word);
  };
  const dialog = new AskingDialog(
    {
      title: trans.__('Sign off %1', brief(name, 60)),
      body,
      focusNodeSelector: 'input[type=radio]',
      buttons: [
        Dialog.cancelButton({ label: trans.__('Cancel') }),
        Dialog.okButton({ label: trans.__('Sign off') })
      ]
    },
    record
  );
  await dialog.launch();
}

/** Whether the word is recorded; else the dialog says why it is not. */
async function recorded(
  model: IVaibify,
  trans: TranslationBundle,
  project: string,
  slug: string,
  body: SignOffBody,
  word: IWord
): Promise<boolean> {
  const { run_id, hashes } = body.toSign;
  try {
    const { envelope_fault } = await model.api.signOff(project, slug, {
      ...word,
      run_id,
      hashes
    });
    if (envelope_fault) {
      const text = trans.__(
        'The sign-off is recorded, but the envelope was not written: %1',
        sentence(envelope_fault)
      );
      complain(trans, { text }, 'warning');
    }
    void model.status.again();
    return true;
  } catch (error) {
    refused(body, asRefusal(error), trans);
    return false;
  }
}

function refused(body: SignOffBody, refusal: Refusal, trans: TranslationBundle): void {
  const now = refusal.body.to_sign as IToSign | null | undefined;
  if (refusal.code === 'bytes-changed' && now) {
    const text = trans.__('The bytes changed since they were shown. These are the new ones.');
    body.replace(now, text);
  } else {
    body.complain(sentence(refusal));
  }
}

interface IWord {
  verdict: string;
  by: string;
  note: string;
}
