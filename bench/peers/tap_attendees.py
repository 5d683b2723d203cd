"""A Singer tap that reads a pigeonhole's attendees, as the SDK's documentation recommends. Accepts `--config FILE`."""

import json
import sys
from pathlib import Path

from singer_sdk import RESTStream, Tap
from singer_sdk import typing as th
from singer_sdk.pagination import JSONPathPaginator

task = json.loads(Path(sys.argv[sys.argv.index("--config") + 1]).read_text())


class Attendees(RESTStream):
    name = "attendees"
    path = f"/v2/pigeonholes/{task['pigeonholeId']}/attendees"
    url_base = task["baseUrl"]
    primary_keys = ("id",)
    records_jsonpath = "$.data[*]"
    http_headers = {"x-api-key": task["apiKey"]}
    schema = th.PropertiesList(
        th.Property("id", th.IntegerType, required=True),
        th.Property("registrantId", th.IntegerType),
        th.Property("attendeeCode", th.StringType),
        th.Property("signInTime", th.DateTimeType),
        th.Property("consent", th.ObjectType(additional_properties=True)),
        th.Property("linkedIn", th.ObjectType(additional_properties=True)),
        th.Property("twitter", th.ObjectType(additional_properties=True)),
        additional_properties=True,
    ).to_dict()

    def get_new_paginator(self):
        return JSONPathPaginator("$.meta.nextCursor")

    def get_url_params(self, context, next_page_token):
        return {"count": 300, **({"cursor": next_page_token} if next_page_token else {})}


class AttendeesTap(Tap):
    name = "tap-attendees"
    config_jsonschema = th.PropertiesList(additional_properties=True).to_dict()

    def discover_streams(self):
        return [Attendees(tap=self)]


if __name__ == "__main__":
    AttendeesTap.cli()
