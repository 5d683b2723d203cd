"""Measures a peer and prints its figures in one line: the word `measured` and JSON."""

import json
import resource


def print_measured(**figures):
    print("measured " + json.dumps(figures), flush=True)


def cpu_seconds():
    """Returns the CPU time of this process and of the child processes that it waited for."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def peak_rss_mb():
    """Returns the peak memory of this process or of its largest child process, whichever is higher."""
    return max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)) / 1024
