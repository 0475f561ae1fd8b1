"""Jobs: the work on what was said, as its tenant sees it."""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from app.api.deps import CallerDep, JobId, RuntimeDep
from app.api.replies import json_response, page_response
from app.schemas.common import Page
from app.schemas.turns import JobReply, JobsQuery, JobWithCorrections, job_json, job_with_corrections_json
from app.turns.records import Task

router = APIRouter(prefix="/jobs", tags=["jobs"])


@router.get("", summary="List jobs, newest first", response_model=Page[JobReply])
async def list_jobs(query: Annotated[JobsQuery, Query()], runtime: RuntimeDep, caller: CallerDep) -> Response:
    """Those that succeeded are kept for a day, those that failed for thirty."""
    found = await runtime.jobs.listing(caller, query.to_domain())
    return page_response(found, query.limit, job_json, lambda job: job.id.uuid)


@router.get("/{id}", summary="Read a job", response_model=JobWithCorrections)
async def read_job(job_id: JobId, runtime: RuntimeDep, caller: CallerDep) -> Response:
    """With what was put right, asked and forgotten because of what was said in its turn."""
    job = await runtime.jobs.get(caller, job_id)
    turn = await runtime.turns.find(caller, job.subject) if job.task is Task.MEMORIES else None
    return json_response(job_with_corrections_json(job, await runtime.corrections.of_turn(caller, turn)))


@router.post("/{id}/retry", summary="Have a failed job tried again", response_model=JobReply)
async def retry_job(job_id: JobId, runtime: RuntimeDep, caller: CallerDep) -> Response:
    return json_response(job_json(await runtime.jobs.retry(caller, job_id)))
