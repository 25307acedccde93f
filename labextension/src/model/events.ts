import type { Event } from '@jupyterlab/services';
import type { IVaibify } from '../tokens';

const OURS = /^https:\/\/events\.vaibify-lab\.org\/vaibify_lab\/(step|run|notebook)\/v\d+$/;

/** Take a notice that something changed as what it is: a reason to look again. */
export function listen(model: IVaibify, events: Event.IManager): void {
  events.stream.connect((_, event) => {
    const isOurs = OURS.test(String(event.schema_id));
    if (isOurs && event.project === model.project.value?.id) {
      void model.status.again();
    }
  });
}
