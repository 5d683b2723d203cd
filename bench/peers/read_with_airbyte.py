"""Reads all attendees of a pigeonhole with Airbyte's CDK, as its documentation recommends: the CDK's entrypoint runs a
declarative source. The messages are counted instead of printed. Prints one line: the word `measured` and JSON.

Usage: read_with_airbyte.py '{"baseUrl": …, "apiKey": …, "pigeonholeId": …, "folder": …, "reading": …}'

`reading`: "plain" passes records on unchanged. "checked" validates each record against a declared schema and stores a
cursor (an incremental stream), as a connector that runs more than once does.
"""

import json
import sys
import time
from pathlib import Path

from airbyte_cdk.entrypoint import AirbyteEntrypoint
from airbyte_cdk.models import ConfiguredAirbyteCatalogSerializer
from airbyte_cdk.sources.declarative.concurrent_declarative_source import ConcurrentDeclarativeSource

from measured import cpu_seconds, peak_rss_mb, print_measured


def manifest(task, checked):
    return {
        "version": "6.0.0",
        "type": "DeclarativeSource",
        "check": {"type": "CheckStream", "stream_names": ["attendees"]},
        "streams": [
            {
                "type": "DeclarativeStream",
                "name": "attendees",
                "primary_key": ["id"],
                **({"incremental_sync": incremental} if checked else {}),
                "retriever": {
                    "type": "SimpleRetriever",
                    "requester": {
                        "type": "HttpRequester",
                        "url_base": task["baseUrl"],
                        "path": f"/v2/pigeonholes/{task['pigeonholeId']}/attendees",
                        "http_method": "GET",
                        "request_headers": {"x-api-key": task["apiKey"]},
                        "request_parameters": {"count": "300"},
                    },
                    "record_selector": {
                        "type": "RecordSelector",
                        "extractor": {"type": "DpathExtractor", "field_path": ["data"]},
                        "schema_normalization": "Default" if checked else "None",
                    },
                    "paginator": {
                        "type": "DefaultPaginator",
                        "page_token_option": {
                            "type": "RequestOption",
                            "inject_into": "request_parameter",
                            "field_name": "cursor",
                        },
                        "pagination_strategy": {
                            "type": "CursorPagination",
                            "cursor_value": "{{ response.meta.nextCursor }}",
                            "stop_condition": "{{ not response.meta.hasMore }}",
                        },
                    },
                },
                "schema_loader": {"type": "InlineSchemaLoader", "schema": schema if checked else any_schema},
            }
        ],
        "spec": {
            "type": "Spec",
            "connection_specification": {"type": "object", "additionalProperties": True, "properties": {}},
        },
    }


any_schema = {"type": "object", "additionalProperties": True, "properties": {"id": {"type": "integer"}}}
text = {"type": ["null", "string"]}
something = {"type": ["null", "object"], "additionalProperties": True}
schema = {
    "type": "object",
    "additionalProperties": True,
    "properties": {
        "id": {"type": "integer"},
        "registrantId": {"type": ["null", "integer"]},
        "attendeeCode": text,
        "signInTime": {**text, "format": "date-time"},
        "consent": something,
        "linkedIn": something,
        "twitter": something,
    },
}
incremental = {
    "type": "DatetimeBasedCursor",
    "cursor_field": "signInTime",
    "datetime_format": "%Y-%m-%dT%H:%M:%S.%fZ",
    "start_datetime": "2020-01-01T00:00:00.000000Z",
}


def catalog(checked):
    mode = "incremental" if checked else "full_refresh"
    stream = {"name": "attendees", "json_schema": any_schema, "supported_sync_modes": [mode]}
    cursor = {"cursor_field": [incremental["cursor_field"]]} if checked else {}
    return {"streams": [{"stream": stream, "sync_mode": mode, "destination_sync_mode": "append", **cursor}]}


def main(task):
    checked = task["reading"] == "checked"
    wanted = catalog(checked)
    files = {}
    for name, content in (("config", {}), ("catalog", wanted)):
        files[name] = Path(task["folder"]) / f"{name}.json"
        files[name].write_text(json.dumps(content))
    source = ConcurrentDeclarativeSource(
        catalog=ConfiguredAirbyteCatalogSerializer.load(wanted),
        config={},
        state=[],
        source_config=manifest(task, checked),
    )
    arguments = ["read", "--config", str(files["config"]), "--catalog", str(files["catalog"])]
    cpu_before = cpu_seconds()
    started_at = time.perf_counter()
    messages = AirbyteEntrypoint(source).run(AirbyteEntrypoint.parse_args(arguments))
    items = sum('"type":"RECORD"' in message for message in messages)
    seconds = time.perf_counter() - started_at
    print_measured(
        items=items,
        requests=-(-items // 300),
        seconds=seconds,
        cpuSeconds=cpu_seconds() - cpu_before,
        peakRssMb=peak_rss_mb(),
    )


main(json.loads(sys.argv[1]))
