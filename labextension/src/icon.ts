import { LabIcon } from '@jupyterlab/ui-components';
import svgstr from '../style/icons/vaibify.svg';

export const vaibifyIcon = new LabIcon({ name: 'vaibify-lab:icon', svgstr });
