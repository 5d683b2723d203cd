"""Loads all attendees of a pigeonhole into PostgreSQL with Singer: a tap of the Meltano SDK piped into target-postgres.
The measurement starts at the first line of the tap, so it excludes the start of the Python processes. Prints one line:
the word `measured` and JSON.

Usage: load_with_singer.py '{"baseUrl": …, "apiKey": …, "pigeonholeId": …, "databaseUrl": …, "folder": …}'
"""

import json
import subprocess
import sys
import time
from pathlib import Path

from measured import cpu_seconds, peak_rss_mb, print_measured


def main(task):
    folder = Path(task["folder"])
    tap_config = folder / "tap.json"
    tap_config.write_text(json.dumps(task))
    target_config = folder / "target.json"
    target_config.write_text(
        json.dumps({"sqlalchemy_url": sqlalchemy_url(task), "add_record_metadata": False, "activate_version": False})
    )
    here = Path(__file__).parent
    tap = subprocess.Popen(
        [sys.executable, str(here / "tap_attendees.py"), "--config", str(tap_config)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    target = subprocess.Popen(
        [str(Path(sys.executable).parent / "target-postgres"), "--config", str(target_config)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
    )
    items = 0
    started_at = None
    for line in tap.stdout:
        started_at = started_at or time.perf_counter()
        items += line.startswith(b'{"type":"RECORD"')
        target.stdin.write(line)
    target.stdin.close()
    for name, process in (("tap", tap), ("target", target)):
        if process.wait() != 0:
            sys.exit(f"the {name} ended with {process.returncode}")
    print_measured(
        items=items,
        requests=-(-items // 300),
        seconds=time.perf_counter() - started_at,
        cpuSeconds=cpu_seconds(),
        peakRssMb=peak_rss_mb(),
    )


def sqlalchemy_url(task):
    return task["databaseUrl"].replace("postgres://", "postgresql://").replace("postgresql://", "postgresql+psycopg://")


main(json.loads(sys.argv[1]))
