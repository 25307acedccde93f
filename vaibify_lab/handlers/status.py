"""What is true of a project now: the poll, and the ladder alone."""

from __future__ import annotations

from vaibify_lab.handlers.base import Handler, allowed


class FileStatusHandler(Handler):
    """``projects/<id>/file-status``."""

    _track_activity = False

    @allowed("read", "file-status")
    async def get(self, identity: str) -> None:
        """Look; answer 304 when the client has that answer."""
        found = await self.bench.poll(await self.entry(identity)).answer()
        self.set_header("Etag", found.etag)
        if self.check_etag_header():
            self.set_status(304)
            self.finish()
        else:
            self.finish(found.body)


class LevelsHandler(Handler):
    """``projects/<id>/levels``."""

    _track_activity = False

    @allowed("read", "file-status")
    async def get(self, identity: str) -> None:
        """Return the ladder."""
        found = await self.bench.poll(await self.entry(identity)).answer()
        report = found.status.report
        levels = [rung.to_json() for rung in report.levels]
        self.answer({"levels": levels, "warnings": list(report.warnings)})
