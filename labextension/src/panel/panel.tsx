import type { ITranslator } from '@jupyterlab/translation';
import { ReactWidget, SidePanel } from '@jupyterlab/ui-components';
import { MessageLoop, type Message } from '@lumino/messaging';
import { Widget, type AccordionPanel } from '@lumino/widgets';
import * as React from 'react';
import { vaibifyIcon } from '../icon';
import { PANEL } from '../ids';
import { Context, type IContext } from '../look/hooks';
import { StepDetail } from './detail';
import { Header } from './header';
import { LogSection } from './log';
import { ProjectSection } from './project';
import { ReviewSection } from './review';
import { StepsSection } from './stepsSection';

/** The sections of the panel, from top to bottom. */
export type Section = 'steps' | 'step' | 'project' | 'log';

const ORDER: Section[] = ['steps', 'step', 'project', 'log'];
const SIZES = [2, 3, 3, 4]; // also of a section that is closed: it is what it opens with

/** The side panel. */
export class VaibifyPanel extends SidePanel {
  constructor(context: IContext, translator: ITranslator) {
    super({ translator });
    const { trans } = context;
    this.id = PANEL;
    this.title.icon = vaibifyIcon;
    this.title.caption = trans.__('Vaibify');
    this.node.setAttribute('role', 'region');
    this.node.setAttribute('aria-label', trans.__('Vaibify'));
    this.addClass('vb-Panel');
    this.header.addWidget(drawn(context, <Header />));
    const titles = {
      steps: trans.__('Steps'),
      step: trans.__('Step'),
      project: trans.__('Project'),
      log: trans.__('Log')
    };
    const content = {
      steps: <StepsSection />,
      step: <StepDetail />,
      project: <ProjectSection />,
      log: <LogSection />
    };
    ORDER.forEach(name => this.addWidget(section(context, name, titles[name], content[name])));
    this.accordion.collapse(ORDER.indexOf('project'));
    this.accordion.collapse(ORDER.indexOf('log'));
    this.accordion.setRelativeSizes(SIZES);
    const review = section(context, 'review', trans.__('Review'), <ReviewSection />);
    const show = (reviewing: boolean): void => this.showReview(review, reviewing);
    context.model.reviewing.changed.connect((_, reviewing) => show(reviewing));
    show(context.model.reviewing.value);
    this.disposed.connect(() => review.dispose());
  }

  /** Open a section; the focus stays where it is. */
  expand(section: Section): void {
    const names = this.widgets.map(widget => widget.node.dataset.section);
    this.accordion.expand(names.indexOf(section));
  }

  dispose(): void {
    this.resized.disconnect();
    super.dispose();
  }

  protected onAfterAttach(message: Message): void {
    super.onAfterAttach(message);
    this.resized.observe(this.header.node);
  }

  protected onBeforeDetach(message: Message): void {
    this.resized.disconnect();
    super.onBeforeDetach(message);
  }

  /** For a reviewer the review comes first; for others it is not there. */
  private showReview(review: Widget, reviewing: boolean): void {
    if (reviewing) {
      this.insertWidget(0, review);
      this.accordion.setRelativeSizes([3, ...SIZES]);
    } else {
      review.parent = null;
    }
  }

  private get accordion(): AccordionPanel {
    return this.content as AccordionPanel;
  }

  /** The header grows and shrinks; the sections take what is left. */
  private readonly resized = new ResizeObserver(() =>
    MessageLoop.postMessage(this.content, Widget.ResizeMessage.UnknownSize)
  );
}

function section(
  context: IContext,
  name: string,
  title: string,
  element: JSX.Element
): ReactWidget {
  const widget = drawn(context, element);
  widget.addClass(`vb-Section-${name}`);
  widget.node.dataset.section = name;
  widget.title.label = title;
  return widget;
}

function drawn(context: IContext, element: JSX.Element): ReactWidget {
  return ReactWidget.create(<Context.Provider value={context}>{element}</Context.Provider>);
}
