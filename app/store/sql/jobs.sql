-- find_job --
-- What a worker has in hand is running; the row that its tenant sees says so only when it is done.
SELECT j.*, p.name AS space,
       j.state = 'waiting' AND EXISTS (
           SELECT FROM queue.procrastinate_jobs q
            WHERE q.status = 'doing' AND q.worker_id IS NOT NULL AND q.args ->> 'job' = j.id::text) AS is_running
  FROM jobs j JOIN spaces p ON p.tenant_id = j.tenant_id AND p.id = j.space_id
 WHERE j.tenant_id = %(tenant_id)s AND j.space_id = %(space_id)s AND j.id = %(id)s;

-- list_jobs --
WITH in_hand AS MATERIALIZED (
    SELECT (args ->> 'job')::uuid AS job FROM queue.procrastinate_jobs WHERE status = 'doing' AND worker_id IS NOT NULL
)
SELECT j.*, p.name AS space, j.state = 'waiting' AND j.id IN (SELECT job FROM in_hand) AS is_running
  FROM jobs j JOIN spaces p ON p.tenant_id = j.tenant_id AND p.id = j.space_id
 WHERE j.tenant_id = %(tenant_id)s
   AND (%(spaces)s::text[] IS NULL OR p.name = ANY(%(spaces)s::text[]))
   AND (%(state)s::text IS NULL OR j.state = %(state)s)
   AND (%(is_running)s::boolean IS NULL OR (j.id IN (SELECT job FROM in_hand)) = %(is_running)s)
   AND (%(before)s::uuid IS NULL OR j.id < %(before)s)
 ORDER BY j.id DESC
 LIMIT %(limit)s;

-- jobs_of_subjects --
-- As list_jobs, of some turns or conversations: the primary key leads to the jobs of their spaces.
WITH in_hand AS MATERIALIZED (
    SELECT (args ->> 'job')::uuid AS job FROM queue.procrastinate_jobs WHERE status = 'doing' AND worker_id IS NOT NULL
)
SELECT j.*, p.name AS space, j.state = 'waiting' AND j.id IN (SELECT job FROM in_hand) AS is_running
  FROM unnest(%(subject_spaces)s::uuid[], %(subjects)s::uuid[]) AS wanted(space_id, subject)
  JOIN jobs j ON j.tenant_id = %(tenant_id)s AND j.space_id = wanted.space_id AND j.subject = wanted.subject
  JOIN spaces p ON p.tenant_id = j.tenant_id AND p.id = j.space_id
 WHERE (%(spaces)s::text[] IS NULL OR p.name = ANY(%(spaces)s::text[]))
   AND (%(state)s::text IS NULL OR j.state = %(state)s)
   AND (%(is_running)s::boolean IS NULL OR (j.id IN (SELECT job FROM in_hand)) = %(is_running)s)
   AND (%(before)s::uuid IS NULL OR j.id < %(before)s)
 ORDER BY j.id DESC
 LIMIT %(limit)s;

-- awaited --
-- An earlier turn of the space that is still to be remembered; one that keeps failing is not waited for.
SELECT 1 FROM jobs
 WHERE tenant_id = %(tenant_id)s AND state = 'waiting' AND space_id = %(space_id)s AND task = 'memories'
   AND NOT erase AND subject < %(id)s AND created_at > now() - interval '1 minute'
 LIMIT 1;

-- retry_job --
UPDATE jobs SET state = 'waiting'
 WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s AND id = %(id)s AND state = 'failed';

-- drop_failed --
-- The queue's own row of a job that failed.
DELETE FROM queue.procrastinate_jobs WHERE status = 'failed' AND args ->> 'job' = %(job)s;

-- note_attempt --
UPDATE jobs SET state = %(state)s, attempts = attempts + 1, error = %(error)s, note = %(note)s, tried_at = now()
 WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s AND id = %(id)s AND state <> 'succeeded';

-- queue_state --
-- How the whole queue stands: what is due, since when, what failed, how many workers give signs of life.
SELECT (SELECT count(*) FROM queue.procrastinate_jobs
         WHERE status = 'todo' AND coalesce(scheduled_at <= now(), TRUE)) AS waiting,
       coalesce((SELECT extract(epoch FROM now() - min(coalesce(j.scheduled_at, e.at)))
                   FROM (SELECT * FROM queue.procrastinate_jobs
                          WHERE status = 'todo' AND coalesce(scheduled_at <= now(), TRUE)
                          ORDER BY priority DESC, id LIMIT 1) AS j
                   JOIN queue.procrastinate_events e ON e.job_id = j.id AND e.type = 'deferred'), 0)::float8 AS oldest_s,
       (SELECT count(*) FROM queue.procrastinate_jobs WHERE status = 'failed') AS failed,
       (SELECT count(*) FROM queue.procrastinate_jobs j
          LEFT JOIN queue.procrastinate_workers w ON w.id = j.worker_id
         WHERE j.status = 'doing'
           AND coalesce(w.last_heartbeat < now() - make_interval(secs => %(stalled_s)s), TRUE)) AS stalled,
       (SELECT count(*) FROM queue.procrastinate_workers
         WHERE last_heartbeat > now() - make_interval(secs => %(stalled_s)s)) AS workers;
