/** The shapes of the server extension's answers (docs/http.md). */

export interface IFault {
  code: string;
  text: string;
  where?: string | null;
  action?: string | null;
}

export interface IReason {
  code: string;
  text: string;
  path?: string;
  action?: string;
}

export type RunState =
  | 'running'
  | 'queued'
  | 'waiting'
  | 'unknown'
  | 'interrupted'
  | 'failed'
  | 'never-run'
  | 'stale'
  | 'current';

export type TestState = 'none' | 'untested' | 'passed' | 'failed' | 'unknown';

export interface IStep {
  slug: string;
  name: string;
  kind: string;
  run: RunState;
  sIntegrity: TestState;
  sQualitative: TestState;
  sQuantitative: TestState;
  sUnitTest: TestState;
  sUser: TestState;
  bUpstreamModified: boolean;
  listModifiedFiles: string[];
  green: boolean;
  isolation: string | null;
  sealed: boolean;
  enabled: boolean;
  /** When its last run ended, when it was tested last, when signed. */
  since: { run: string | null; tests: string | null; user: string | null };
  reasons: IReason[];
  notes: IReason[];
}

export interface IRung {
  level: string;
  title: string;
  met: boolean | 'unknown';
  missing: IReason[];
}

export interface ICurrentRun {
  run_id: string;
  workflow: string;
  person: string;
  started: string;
  state: 'running' | 'unknown' | 'lost';
  acknowledged: boolean;
}

export interface IFileStatus {
  id: string;
  workflow: string;
  name: string;
  repo: string;
  warnings: string[];
  steps: IStep[];
  levels: IRung[];
  current: ICurrentRun | null;
}

export interface IProject {
  id: string;
  contents: string;
  root: string;
  workflow: string;
  name: string;
  steps: number;
  error: IFault | null;
}

export interface IPlace {
  contents: string;
  path: string;
  projects: string[];
  error: IFault | null;
}

export interface IProjects {
  instance: string;
  version: string;
  settings: { poll_seconds: number; reviewer: boolean };
  root: string;
  projects: IProject[];
  repositories: { contents: string; root: string; projects: string[] }[];
  refused: { contents: string; error: IFault }[];
  complete: boolean;
  here?: IPlace;
}

export interface IFile {
  path: string;
  kind: 'plot' | 'data' | 'other' | 'input' | 'code';
  state: string;
  sha256: string | null;
  bytes: number | null;
  text: string | null;
  git: string | null;
}

export interface IRecord {
  run_id: string;
  outcome: string;
  reason: string | null;
  exit_code: number | null;
  person: string;
  machine: { host: string } | null;
  started: string;
  ended: string;
  seconds: number | null;
  engine: { kind: string } | null;
  isolation: string;
  image: unknown;
  seed: number | string | null;
  fingerprint: string | null;
  commit: string | null;
  dirty: unknown;
  cached_from: string | null;
}

export interface IStepDetail {
  slug: string;
  name: string;
  number: number;
  kind: string;
  description: string;
  directory: string;
  enabled: boolean;
  interactive: boolean;
  commands: string[];
  tests: { category: string; commands: string[] }[];
  parents: string[];
  inputs: IFile[];
  code: IFile[];
  outputs: IFile[];
  record: IRecord | null;
  passed: IRecord | null;
  report: IStep;
}

export interface IPin {
  artifact_id: string;
  version_number: number;
  content_hash: string;
  made_by?: string | null;
}

export interface IPinBreak {
  analysis_id: string;
  artifact_id: string | null;
  status: string;
  text: string;
}

/** What a step's last passed run pinned; `checks` are about the pins, then the outputs. */
export interface IPins {
  analysis_id: string;
  run_id: string | null;
  pinned_artifacts: IPin[];
  outputs: IPin[];
  checks: { artifact_id: string; role: string; status: string }[];
  upstream: { analysis_id: string; status: string }[];
  status: string;
  broken_at: string | null;
  breaks: IPinBreak[];
}

export interface IToSign {
  run_id: string;
  hashes: Record<string, string>;
  bytes: Record<string, number>;
}

export interface ISignOff {
  verdict: 'passed' | 'failed';
  by: string;
  when: string;
  run_id: string;
  hashes: Record<string, string>;
  note: string;
  signed: boolean;
  signature_state: string | null;
  unsigned_reason: string | null;
}

export interface ISignOffs {
  step: string;
  to_sign: IToSign | null;
  refused: IFault | null;
  name: string | null;
  sign_offs: ISignOff[];
}

export interface IRunEntry {
  run_id: string;
  workflow: string;
  person: string;
  started: string;
  seconds: number | null;
  outcome: string;
  steps: Record<string, string>;
  text: string;
}

export interface IEnvelope {
  files: { path: string; exists: boolean; bytes: number | null; sha256: string | null }[];
  environment: unknown;
  error: IFault | null;
}

export interface IImage {
  engine: {
    state: 'ok' | 'missing';
    name: string | null;
    version: string | null;
    error: IFault | null;
  };
  pinned: {
    name: string;
    config_digest: string;
    registry_digest: string | null;
    platform: string;
    origin: string;
  } | null;
  here: boolean | 'unknown';
  base: string;
  /** The newest build of this server's. */
  build: IJob | null;
}

export interface IJob {
  job: string;
  kind: string;
  state: 'running' | 'done' | 'failed' | 'cancelled';
  result: unknown;
  error: IFault | null;
}

/** Which commit and which manifest were there, and what differed from that commit. */
export interface IAbout {
  commit: string | null;
  manifest_sha256: string | null;
  uncommitted: Record<string, string | null>;
}

export interface ITier {
  tier: number;
  state: 'passed' | 'failed' | 'skipped' | 'not-checkable';
  line: string;
  listed: number;
  checked: number;
  problems: IReason[];
  warnings: string[];
}

export interface IReproduction {
  about: IAbout;
  confirmed: boolean;
  summary: string;
  tiers: ITier[];
}

export interface IRerun {
  about: IAbout;
  workflow: string;
  steps: string[];
  passed: boolean;
  in_container: boolean;
  engine: string;
  outputs: { path: string; verdict: string; said?: string }[];
  problems: string[];
}

export interface IReviewWord {
  verdict: string;
  by: string;
  text: string;
}

/** A review, to be kept by whoever wrote it. */
export interface IReview extends IReviewWord {
  written: string;
  project: IAbout & { name: string; workflow: string };
}

/** What a run is asked to do. */
export interface IRunAsked {
  mode?: 'stale' | 'all' | 'steps' | 'only' | 'from';
  steps?: string[];
  tests_only?: boolean;
  /** A person is there for the steps that need one. */
  interactive?: boolean;
}

/** A line of a run's or a job's journal. */
export interface IJournalLine {
  event: string;
  sequence?: number;
  time?: string;
  step?: string;
  log?: string;
  stream?: string;
  text?: string;
  offset?: number;
  length?: number;
  not_shown?: number;
  outcome?: string;
  code?: string;
  [more: string]: unknown;
}
