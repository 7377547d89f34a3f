#!/usr/bin/env python3
"""Factorizations and triangular solves on the grids of H. Luo et al., StructILU, ICS 2025, table 3, beside cuSPARSE's.

    structilu.py run BENCH_KERNELS BENCH.json [--scale S] [--jobs N] [--small] [--only TEXT] [-- OPTIONS]
    structilu.py table BENCH.json

run measures with bench_kernels, whose further OPTIONS stand behind --, and appends its lines to BENCH.json; then it prints the table, as
the second form does. A matrix takes a process: they take turns on the GPU, while others start or generate matrices. Results are compared
with cuSPARSE's. --scale times the points in each direction of the document: 1 has up to 2.1e9 entries, nearly all that indices of 32 bits
count, and wants 80 GB on the GPU. With more than 2^30 entries csrilu02 fails (cuSPARSE 12.9), and is left out, as is SpSV, which wants its
factor: 0.8 has no more. --only takes the names with that text. Grids are made on the GPU. Before them come blocks in other orders, unless
--grids leaves them out, which are generated on the host, and there want up to 15 GB each with a scale of 1.

Of cuSPARSE the fastest algorithm counts, in CSR (csrilu02 and SpSV) and in blocks (BSR: bsrilu02 and bsrsv2), with levels. A ratio is
the time of the faster one of the two over that of syncilu. The bandwidth is that of both triangular solves together, which on a grid are
each other's mirror image: 8 bytes for each number of L and of U, and 16 bytes for each row and triangle, a right-hand side and a solution;
over that of a copy on the device.
"""

import argparse
import math
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from plot import TOLERANCE, number, read

SKIPPED = 77
FAULT = 3  # of a kernel of cuSPARSE
UNKNOWNS = (1, 2, 4, 6, 8)
# points in each direction by unknowns a point
GRIDS = {
    "7pt": ("star-7", (560, 416, 256, 192, 160)),
    "star13": ("star-13", (544, 336, 208, 160, 128)),
    "diamond13": ("diamond-13", (544, 336, 208, 160, 128)),
    "diamond25": ("diamond-25", (416, 256, 160, 128, 104)),
    "27pt": ("box-27", (416, 256, 160, 128, 104)),
}


# blocks of linear and trilinear finite elements, most in other orders; points in each direction
OTHERS = {"elasticity": 110, "elasticity_rcm": 110, "15pt_dof3_morton": 150, "15pt_dof4_random": 130, "15pt_dof8_morton": 80}


def names(scale, small, orders):
    """All grids, those with the most work first, after those in other orders."""
    found = []
    for stencil, (_, sides) in GRIDS.items():
        for unknowns, side in zip(UNKNOWNS, sides):
            n = 5 if small else max(5, round(scale * side))
            points = int("".join(c for c in stencil if c.isdigit()))
            found.append((n**3 * points**2 * unknowns**3, f"{stencil}_dof{unknowns}:{n}x{n}x{n}"))
    others = [f"{name}:{'x'.join(3 * [str(5 if small else max(5, round(scale * side)))])}" for name, side in OTHERS.items()]
    return (others if orders else []) + [name for _, name in sorted(found, reverse=True)]


def run(arguments):
    chosen = [name for name in names(arguments.scale, arguments.small, not arguments.grids) if arguments.only in name]
    lock = tempfile.NamedTemporaryFile(prefix="bench-turns-")
    failed = []

    def one(name):
        begin = time.monotonic()
        command = [arguments.program, "-matrices", name, "-strategies", "auto", "-brief", "-repeat", "5", "-limit", "0.1"]
        result = subprocess.run([*command, "-turns", lock.name, "-json", str(arguments.file), *arguments.options], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if result.returncode not in (0, FAULT):
            failed.append((name, result.returncode, result.stdout[-2000:]))
        print(f"{name}: {'done' if not result.returncode else 'cuSPARSE failed' if result.returncode == FAULT else 'failed'}, {time.monotonic() - begin:.1f} s", file=sys.stderr)

    with ThreadPoolExecutor(arguments.jobs) as pool:
        list(pool.map(one, chosen))
    for name, status, text in failed:
        print(f"FAILED: {name}, status {status}\n{text}")
    if failed and all(status == SKIPPED for _, status, _ in failed):
        sys.exit(SKIPPED)  # there is no GPU
    return not failed


def collect(lines):
    """By matrix and then by strategy of ours: what is in the table."""
    found = {}
    for line in lines:
        name = line.get("matrix", "").split(":")[0]
        stencil, _, unknowns = name.partition("_dof")
        if name in OTHERS:
            stencil, unknowns = name, line["block"]
        if line.get("bench") != "kernels" or (name not in OTHERS and stencil not in GRIDS) or not unknowns or line.get("seconds") is None:
            continue
        entry = found.setdefault(line["matrix"], {"stencil": stencil, "unknowns": int(unknowns), "rows": line["rows"], "nonzeros": line["nonzeros"], "ours": {}, "theirs": {}})
        if (line.get("error") or 0) > TOLERANCE:
            continue
        side = entry["ours" if line["library"] == "syncilu" else "theirs"]
        side.setdefault(line["strategy"], {})[line["phase"]] = line
    return found


def fastest(theirs, function, phase):
    times = [phases[phase]["seconds"] for name, phases in theirs.items() if name.startswith(function) and phase in phases]
    return min(times, default=math.nan)


def cell(value, factor=1.0):
    return "-" if not math.isfinite(value) else number(factor * value)


def table(lines):
    copies = [line["copy_bytes_per_second"] for line in lines if line.get("bench") == "machine"]
    found = collect(lines)
    if not found:
        print("no grids of the document were measured")
        return False
    gpus = dict.fromkeys(line["gpu"] for line in lines if line.get("bench") == "machine")
    print(f"Grids of StructILU's table 3, ms, {', '.join(gpus)}; ratio: the faster one of cuSPARSE's over ours\n")
    print("| stencil | unknowns | points | factorization | CSR | BSR | ratio | L and U | CSR | BSR | ratio | bandwidth | ran |")
    print("| --- " * 13 + "|")
    order = [*GRIDS, *OTHERS]
    ratios = {"refactor": [], "solve": []}
    short = {}
    for matrix, entry in sorted(found.items(), key=lambda item: (order.index(item[1]["stencil"]), item[1]["unknowns"], item[1]["rows"])):
        for strategy, phases in entry["ours"].items():
            cells = []
            for phase, functions in (("refactor", ("csrilu02", "bsrilu02")), ("solve", ("SpSV", "bsrsv2"))):
                ours = phases[phase]["seconds"] if phase in phases else math.nan
                theirs = [fastest(entry["theirs"], function, phase) for function in functions]
                ratio = min((time for time in theirs if math.isfinite(time)), default=math.nan) / ours
                if strategy == "auto" and math.isfinite(ratio):
                    ratios[phase].append(ratio)
                cells += [cell(ours, 1e3), *(cell(time, 1e3) for time in theirs), cell(ratio)]
            solve = phases["solve"]["seconds"] if "solve" in phases else math.nan
            moved = 8.0 * entry["nonzeros"] + 32.0 * entry["rows"]
            cells.append(f"{100 * moved / solve / copies[-1]:.0f} %" if copies and math.isfinite(solve) else "-")
            if strategy == "auto":
                short[entry["stencil"], entry["unknowns"]] = f"{matrix.split(':')[1].split('x')[0]}^3: {cells[3]}, {cells[7]}, {cells[8]}"
            any_line = next(iter(phases.values()))
            ran = "/".join(any_line.get(what, "") for what in ("factorization", "solve_ran"))
            title = GRIDS[entry["stencil"]][0] if entry["stencil"] in GRIDS else entry["stencil"].replace("_", ", ")
            print(f"| {title} | {entry['unknowns']} | {matrix.split(':')[1].split('x')[0]}^3 | " + " | ".join(cells) + f" | {ran}{'' if strategy == 'auto' else f' ({strategy})'} |")
    print("\nIn short: points, ratios of the factorization and of the solves, bandwidth of the solves\n")
    print("| stencil | " + " | ".join(f"{unknowns} unknown{'s' if unknowns > 1 else ''}" for unknowns in UNKNOWNS) + " |")
    print("| --- " * (1 + len(UNKNOWNS)) + "|")
    for stencil, (title, _) in GRIDS.items():
        print(f"| {title} | " + " | ".join(short.get((stencil, unknowns), "") for unknowns in UNKNOWNS) + " |")
    for line in lines:
        if line.get("bench") == "kernels" and line["matrix"] in found and line["library"] == "cusparse" and "failed" in line:
            print(f"\n{line['matrix']}: {line['strategy']} failed: {line['failed'].split(chr(10))[0][:160]}")
    for phase, what in (("refactor", "factorization"), ("solve", "solve")):
        if ratios[phase]:
            mean = math.exp(sum(map(math.log, ratios[phase])) / len(ratios[phase]))
            print(f"\n{what}: geometric mean of {len(ratios[phase])} ratios {mean:.2f}, least {min(ratios[phase]):.2f}, greatest {max(ratios[phase]):.2f}")
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    running = commands.add_parser("run")
    running.add_argument("program")
    running.add_argument("file", type=Path)
    running.add_argument("--scale", type=float, default=0.4)
    running.add_argument("--jobs", type=int, default=max(1, min(12, (os.cpu_count() or 1) - 1)))
    running.add_argument("--small", action="store_true")
    running.add_argument("--only", default="")
    running.add_argument("--grids", action="store_true", help="without blocks in other orders")
    running.add_argument("options", nargs="*")
    printing = commands.add_parser("table")
    printing.add_argument("file", type=Path)
    arguments = parser.parse_args()
    good = run(arguments) if arguments.command == "run" else True
    good = table(read(arguments.file) if arguments.file.exists() else []) and good
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
