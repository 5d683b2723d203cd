"""Reads all attendees of a pigeonhole with Airbyte's CDK, as its documentation says: a declarative source, run by the
CDK's entrypoint, whose messages are counted instead of printed. Prints one line: the word `measured` and JSON.

Usage: read_with_airbyte.py '{"baseUrl": …, "apiKey": …, "pigeonholeId": …, "folder": …}'
"""

import json
import sys
import time
from pathlib import Path

from airbyte_cdk.entrypoint import AirbyteEntrypoint
from airbyte_cdk.models import ConfiguredAirbyteCatalogSerializer
from airbyte_cdk.sources.declarative.concurrent_declarative_source import ConcurrentDeclarativeSource

from measured import cpu_seconds, peak_rss_mb, print_measured


def manifest(task):
    return {
        "version": "6.0.0",
        "type": "DeclarativeSource",
        "check": {"type": "CheckStream", "stream_names": ["attendees"]},
        "streams": [
            {
                "type": "DeclarativeStream",
                "name": "attendees",
                "primary_key": ["id"],
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
                "schema_loader": {"type": "InlineSchemaLoader", "schema": schema},
            }
        ],
        "spec": {
            "type": "Spec",
            "connection_specification": {"type": "object", "additionalProperties": True, "properties": {}},
        },
    }


schema = {"type": "object", "additionalProperties": True, "properties": {"id": {"type": "integer"}}}
catalog = {
    "streams": [
        {
            "stream": {"name": "attendees", "json_schema": schema, "supported_sync_modes": ["full_refresh"]},
            "sync_mode": "full_refresh",
            "destination_sync_mode": "overwrite",
        }
    ]
}


def main(task):
    files = {}
    for name, content in (("config", {}), ("catalog", catalog)):
        files[name] = Path(task["folder"]) / f"{name}.json"
        files[name].write_text(json.dumps(content))
    source = ConcurrentDeclarativeSource(
        catalog=ConfiguredAirbyteCatalogSerializer.load(catalog), config={}, state=[], source_config=manifest(task)
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
