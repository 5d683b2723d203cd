"""How the peers tell their figures: one line, the word `measured` and JSON."""

import json
import resource


def print_measured(**figures):
    print("measured " + json.dumps(figures), flush=True)


def cpu_seconds():
    """Of this process and of the children that it waited for."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def peak_rss_mb():
    """Of this process, or of the largest of its children."""
    return max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)) / 1024
