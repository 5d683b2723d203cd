"""Prints the cells of workbooks as openpyxl reads them: one JSON line a workbook. See compare-xlsx.mjs."""

import datetime
import json
import sys
import warnings

import openpyxl

warnings.simplefilter("ignore")
answers = sys.stdout
sys.stdout = sys.stderr  # openpyxl prints notes about some workbooks


def cell_value(value):
    """Returns the kind and value of a cell in a form that JSON has."""
    if isinstance(value, bool):
        return ["bool", value]
    if isinstance(value, (int, float)):
        return ["number", value]
    if isinstance(value, datetime.datetime):
        return ["instant", value.isoformat()]
    if isinstance(value, datetime.date):
        return ["instant", value.isoformat() + "T00:00:00"]
    if isinstance(value, datetime.time):
        return ["time", value.isoformat()]
    if isinstance(value, datetime.timedelta):
        return ["duration", value.total_seconds()]
    return ["text", str(value)]


def sheets_of(path):
    workbook = openpyxl.load_workbook(path, data_only=True)
    for sheet in workbook.worksheets:
        cells = {}
        for row in sheet.iter_rows():
            for cell in row:
                if cell.value is None:
                    continue
                kind = ["error", cell.value] if cell.data_type == "e" else cell_value(cell.value)
                cells[cell.coordinate] = [*kind, cell.number_format]
        yield {"name": sheet.title, "hidden": sheet.sheet_state != "visible", "cells": cells}


for path in map(str.strip, sys.stdin):
    try:
        print(json.dumps({"path": path, "sheets": list(sheets_of(path))}), file=answers, flush=True)
    except Exception as error:
        print(json.dumps({"path": path, "refused": type(error).__name__}), file=answers, flush=True)
