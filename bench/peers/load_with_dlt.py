"""Loads all attendees of a pigeonhole into PostgreSQL with dlt, as its documentation recommends: a REST client follows
the cursor, and rows are merged by the primary key of the resource. Prints one line: the word `measured` and JSON.

Usage: load_with_dlt.py '{"baseUrl": …, "apiKey": …, "pigeonholeId": …, "databaseUrl": …, "folder": …}'
"""

import json
import sys
import time

import dlt
from dlt.sources.helpers.rest_client import RESTClient
from dlt.sources.helpers.rest_client.auth import APIKeyAuth
from dlt.sources.helpers.rest_client.paginators import JSONResponseCursorPaginator

from measured import cpu_seconds, peak_rss_mb, print_measured


def main(task):
    client = RESTClient(
        base_url=task["baseUrl"],
        auth=APIKeyAuth(name="x-api-key", api_key=task["apiKey"], location="header"),
        paginator=JSONResponseCursorPaginator(cursor_path="meta.nextCursor", cursor_param="cursor"),
        data_selector="data",
    )
    counted = {"items": 0, "requests": 0}

    @dlt.resource(name="attendees", primary_key="id", write_disposition="merge")
    def attendees():
        for page in client.paginate(f"/v2/pigeonholes/{task['pigeonholeId']}/attendees", params={"count": 300}):
            counted["items"] += len(page)
            counted["requests"] += 1
            yield page

    pipeline = dlt.pipeline(
        pipeline_name="peer",
        pipelines_dir=task["folder"],
        destination=dlt.destinations.postgres(task["databaseUrl"]),
        dataset_name="peer",
    )
    cpu_before = cpu_seconds()
    started_at = time.perf_counter()
    pipeline.run(attendees()).raise_on_failed_jobs()
    seconds = time.perf_counter() - started_at
    print_measured(**counted, seconds=seconds, cpuSeconds=cpu_seconds() - cpu_before, peakRssMb=peak_rss_mb())


main(json.loads(sys.argv[1]))
