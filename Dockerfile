# Ricordo with its embedded Postgres, or with any other by RICORDO_DATABASE_URL.
#
#   docker build -t ricordo .
#   docker run -p 127.0.0.1:8080:8080 -v ricordo:/data ricordo
#   docker exec CONTAINER cat /data/api_key

FROM python:3.11-slim AS build
WORKDIR /srv/ricordo
COPY requirements/setup.txt requirements/run.txt requirements/
RUN python -m venv .venv \
 && .venv/bin/python -m pip install --no-cache-dir --require-hashes -r requirements/setup.txt \
 && .venv/bin/uv pip install --no-cache --compile-bytecode --python .venv/bin/python --require-hashes -r requirements/run.txt
COPY pyproject.toml README.md LICENSE ./
COPY app app
COPY alembic alembic
RUN .venv/bin/uv pip install --no-cache --python .venv/bin/python --no-deps --no-build-isolation -e . \
 && .venv/bin/python -m compileall -q app

FROM python:3.11-slim
RUN useradd --system --uid 10001 --home-dir /srv/ricordo --no-create-home ricordo \
 && install --directory --owner ricordo --mode 0700 /data
# The same folder as in the build: the environment and the installed project name it.
COPY --from=build /srv/ricordo /srv/ricordo
WORKDIR /srv/ricordo
USER ricordo
ENV PATH=/srv/ricordo/.venv/bin:$PATH \
    OPENBLAS_NUM_THREADS=1 \
    RICORDO_HOST=0.0.0.0 \
    RICORDO_DATA_DIR=/data
VOLUME /data
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=6s --start-period=60s \
  CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8080/health/live', timeout=5)"]
CMD ["ricordo", "serve"]
