"""Drives the real client and daemon against servers that others wrote. `scripts/interop` says how it is used."""

import argparse
import json
import signal
import sys

from ask import Cohab
from probes import COLUMNS, Row, verdict
from server import Unavailable
from servers import SERVERS
from tap import Tap

HEADINGS = ["server", "version", "wire", *COLUMNS]


def row_of(server, face, results):
    return {"server": f"{server.name} {face.through}".strip(), "version": server.version, "wire": face.wire, "results": results}


def all_the_same(word, why):
    return {column: {"verdict": word, "why": why} for column in COLUMNS}


def try_face(server, face, binaries):
    tap = Tap(server.port)
    cohab = Cohab(binaries, face.wire, f"http://127.0.0.1:{tap.port}{face.path}", face.model)
    try:
        row, results = Row(server, face, tap, cohab), {}
        for column in COLUMNS:
            print(f"{server.name} {face.through} {face.wire}: {column}", file=sys.stderr, flush=True)
            word, why = verdict(row, column)
            results[column] = {"verdict": word, "why": why}
        return results
    finally:
        cohab.close()
        tap.close()


def known_wires(binaries):
    cohab = Cohab(binaries, "nonesuch", "http://127.0.0.1:9", "none")
    try:
        return cohab.wires()
    finally:
        cohab.close()


def try_server(kind, binaries, known, only_wire):
    server = kind()
    faces = [face for face in server.faces if only_wire in (None, face.wire)]
    tried = []
    try:
        if any(face.wire in known for face in faces):
            server.start()
        for face in faces:
            results = try_face(server, face, binaries) if face.wire in known else all_the_same("n/a", "not in this build")
            tried.append(face)
            yield row_of(server, face, results)
    except Unavailable as reason:
        for face in faces[len(tried):]:
            yield row_of(server, face, all_the_same("FAILED", f"the server: {reason}"))
    finally:
        server.stop()


def table(rows):
    """The rows for people: a table, then what failed and why."""
    def cells(row):
        results = row["results"]
        head = [row["server"], row["version"], row["wire"]]
        if all(result["why"] == "not in this build" for result in results.values()):
            return [*head, "not in this build"]
        return [*head, *(result["verdict"] for result in results.values())]

    lines = [HEADINGS, *map(cells, rows)]
    widths = [max((len(line[column]) for line in lines if len(line) == len(HEADINGS)), default=0) for column in range(len(HEADINGS))]
    widths[:3] = [max(len(line[column]) for line in lines) for column in range(3)]
    said = [" | ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in lines]
    said.insert(1, "-|-".join("-" * width for width in widths))
    for word in ("FAILED", "n/a"):
        whys = {}
        for row in rows:
            for column, result in row["results"].items():
                if result["verdict"] == word and result["why"] != "not in this build":
                    whys.setdefault((result["why"], column), []).append(f"{row['server']} {row['wire']}")
        said += ["", f"{word}:"] if whys else []
        said += [f"- {column} ({', '.join(where)}): {why}" for (why, column), where in whys.items()]
    return "\n".join(said)


def main():
    names = [kind.name for kind in SERVERS]
    parser = argparse.ArgumentParser()
    parser.add_argument("--binaries", required=True)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--only", choices=names, action="append")
    parser.add_argument("--wire")
    chosen = parser.parse_args()
    # As Ctrl-C: what was started is ended, and what is known is shown.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    rows, status = [], 0
    try:
        known = known_wires(chosen.binaries)
        for kind in SERVERS:
            if kind.name in (chosen.only or names):
                for row in try_server(kind, chosen.binaries, known, chosen.wire):
                    rows.append(row)
    except KeyboardInterrupt:
        status = 130
    if any(result["verdict"] == "FAILED" for row in rows for result in row["results"].values()):
        status = status or 1
    print(json.dumps(rows, indent=2, ensure_ascii=False) if chosen.json else table(rows))
    return status


if __name__ == "__main__":
    sys.exit(main())
