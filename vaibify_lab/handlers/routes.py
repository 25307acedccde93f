"""Every address, below ``<base_url>vaibify/``."""

from __future__ import annotations

from vaibify_lab.handlers import attending, envelope, image, jobs, machine, runs, steps
from vaibify_lab.handlers.base import Common
from vaibify_lab.handlers.cells import CellsHandler, ProposalHandler
from vaibify_lab.handlers.journal import RunJournalHandler
from vaibify_lab.handlers.projects import ProjectsHandler
from vaibify_lab.handlers.provenance import (
    ProvenanceHandler,
    StepPinsHandler,
    StepProvenanceHandler,
)
from vaibify_lab.handlers.reviews import ReviewsHandler
from vaibify_lab.handlers.sign_offs import SignOffsHandler
from vaibify_lab.handlers.status import FileStatusHandler, LevelsHandler
from vaibify_lab.handlers.workflow import WorkflowHandler

_PROJECT = "projects/([0-9a-f]{16})"
_RUN = f"{_PROJECT}/runs/([^/]+)"
_STEP = f"{_PROJECT}/steps/([^/]+)"
_JOB = f"{_PROJECT}/jobs/([^/]+)"

ROUTES: tuple[tuple[str, type[Common]], ...] = (
    ("projects", ProjectsHandler),
    ("init", machine.InitHandler),
    ("doctor", machine.DoctorHandler),
    (f"{_PROJECT}/file-status", FileStatusHandler),
    (f"{_PROJECT}/levels", LevelsHandler),
    (f"{_PROJECT}/workflow", WorkflowHandler),
    (f"{_PROJECT}/cells", CellsHandler),
    (f"{_PROJECT}/cells/proposal", ProposalHandler),
    (f"{_PROJECT}/runs", runs.RunsHandler),
    (_RUN, runs.RunHandler),
    (f"{_RUN}/journal", RunJournalHandler),
    (f"{_RUN}/logs/([^/]+)/(.+)", runs.LogHandler),
    (f"{_PROJECT}/tests", runs.TestsHandler),
    (f"{_PROJECT}/acknowledge", runs.AcknowledgeHandler),
    (_STEP, steps.StepHandler),
    (f"{_STEP}/sign-offs", SignOffsHandler),
    (f"{_STEP}/plots/(.+)", steps.PlotHandler),
    (f"{_STEP}/pins", StepPinsHandler),
    (f"{_STEP}/provenance", StepProvenanceHandler),
    (f"{_PROJECT}/provenance", ProvenanceHandler),
    (f"{_STEP}/(pause|resume)", attending.HoldHandler),
    (f"{_STEP}/complete", attending.CompleteHandler),
    (f"{_STEP}/terminals", attending.StepTerminalsHandler),
    (f"{_PROJECT}/envelope", envelope.EnvelopeHandler),
    (f"{_PROJECT}/manifest", envelope.ManifestHandler),
    (f"{_PROJECT}/manifest/verify", envelope.VerifyHandler),
    (f"{_PROJECT}/verify", envelope.LookHandler),
    (f"{_PROJECT}/check", envelope.CheckHandler),
    (f"{_PROJECT}/image", image.ImageHandler),
    (f"{_PROJECT}/container", image.ContainerHandler),
    (f"{_PROJECT}/reproductions", jobs.ReproductionsHandler),
    (f"{_PROJECT}/reruns", jobs.RerunsHandler),
    (f"{_PROJECT}/reviews", ReviewsHandler),
    (_JOB, jobs.JobHandler),
    (f"{_JOB}/journal", jobs.JobJournalHandler),
)
