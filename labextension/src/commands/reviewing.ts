import { Dialog, Notification } from '@jupyterlab/apputils';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { CommandRegistry } from '@lumino/commands';
import type { IReproduction, IReview } from '../api/answers';
import { asRefusal } from '../api/connection';
import { CommandIDs } from '../ids';
import { brief } from '../look/words';
import { ReviewBody } from '../panel/reviewBody';
import type { IVaibify } from '../tokens';
import { AskingDialog } from './asking';
import { noProject, offer, type Args } from './offer';
import { sentence, told } from './told';

/** What a reviewer does: check, run steps again on a copy, write. */
export function addReviewCommands(
  commands: CommandRegistry,
  model: IVaibify,
  trans: TranslationBundle
): void {
  const hindrance = (): string | null =>
    (model.reviewing.value ? null : trans.__('only in reviewer mode')) ?? noProject(model, trans);
  const stepIn = (args: Args): string | null =>
    typeof args.step === 'string' ? args.step : model.step.value;
  offer(commands, CommandIDs.check, {
    label: trans.__('Review: Check Everything'),
    hindrance,
    execute: () => model.review.check(model.project.value?.id ?? '')
  });
  offer(commands, CommandIDs.rerun, {
    label: trans.__('Review: Rerun the Open Step and Compare'),
    properties: { step: { type: 'string' } },
    hindrance: args => hindrance() ?? (stepIn(args) ? null : trans.__('no step is open')),
    execute: args => model.review.rerun(model.project.value?.id ?? '', stepIn(args) ?? '')
  });
  offer(commands, CommandIDs.review, {
    label: trans.__('Review: Write a Review…'),
    hindrance,
    execute: () => review(model, trans)
  });
}

async function review(model: IVaibify, trans: TranslationBundle): Promise<void> {
  const project = model.project.value;
  const found = project && (await told(trans, model.api.reviewing(project.id)));
  if (!found) {
    return;
  }
  const checked = model.jobs.all.value.get('reproduction')?.result as IReproduction | null;
  const summary = brief(checked?.summary ?? trans.__('Nothing was checked yet.'), 1000);
  const body = new ReviewBody(trans, found.about, summary, found.name ?? '');
  const dialog = new AskingDialog(
    {
      title: trans.__('Review %1', brief(project.name, 60)),
      body,
      focusNodeSelector: 'input[type=radio]',
      buttons: [
        Dialog.cancelButton({ label: trans.__('Cancel') }),
        Dialog.okButton({ label: trans.__('Download') })
      ]
    },
    () => written(model, trans, project.id, body)
  );
  await dialog.launch();
}

async function written(
  model: IVaibify,
  trans: TranslationBundle,
  project: string,
  body: ReviewBody
): Promise<boolean> {
  const word = body.word();
  if (!word) {
    return false;
  }
  try {
    const found = await model.api.review(project, word);
    download(found);
    Notification.success(trans.__('The review is downloaded; send it to the author.'));
    return true;
  } catch (error) {
    body.complain(sentence(asRefusal(error)));
    return false;
  }
}

function download(review: IReview): void {
  const commit = (review.project.commit ?? 'no-commit').slice(0, 12);
  const text = JSON.stringify(review, null, 2) + '\n';
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], { type: 'application/json' }));
  link.download = `review-${commit}.json`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
