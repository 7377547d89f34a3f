#!/usr/bin/env python3
"""Plots of what the bench programs measured.

    plot.py BENCH.json [FOLDER] [--format png|svg] [--strategy NAME]

Reads JSON lines (those of bench_kernels and bench_solvers, also with "JSON " before them amid other output) and writes into FOLDER, by
default that of the file:

    speedup   time of cuSPARSE over that of syncilu, by matrix and phase
    bound     distance to the bound against rows per level, every strategy
    solvers   setup and solve time of the end-to-end solves

A measurement made twice counts as the later one; a wrong result does not count.
"""

import argparse
import json
import math
import sys
from pathlib import Path

TOLERANCE = 1e-10
# one color for each phase, of the palette of M. Okabe and K. Ito, which the color-blind tell apart
COLORS = {"solve": "#0072B2", "transposed": "#56B4E9", "solve16": "#CC79A7", "refactor": "#D55E00", "analysis": "#009E73", "first": "#E69F00"}
LABELS = {"solve": "solve L+U", "transposed": "transposed solve", "solve16": "16 right-hand sides", "refactor": "refactorization", "analysis": "analysis"}


def read(path):
    lines = []
    with open(path, encoding="utf-8") as file:
        for line in file:
            line = line.removeprefix("JSON ").strip()
            if line.startswith("{"):
                try:
                    lines.append(json.loads(line))
                except json.JSONDecodeError as error:
                    print(f"plot.py: {path}: a line is not JSON ({error}), and left out", file=sys.stderr)
    return lines


def kernels(lines):
    """Seconds and bound by matrix, strategy and phase, in the order of the file."""
    table = {}
    for line in lines:
        if line.get("bench") != "kernels" or "phase" not in line or line.get("seconds") is None:
            continue
        if (line.get("error") or 0) > TOLERANCE:
            continue
        matrix = table.setdefault(line["matrix"], {"rows": line["rows"], "levels": max(1, line["levels_l"]), "ours": {}, "theirs": {}})
        side = matrix["ours" if line["library"] == "syncilu" else "theirs"]
        side.setdefault(line["strategy"], {})[line["phase"]] = (line["seconds"], line.get("bound"))
    return table


def seconds(side, strategy, phase):
    return side.get(strategy, {}).get(phase, (math.nan,))[0]


def ratios(matrix, strategy):
    """cuSPARSE's time over ours by phase, as the program's summary has them."""
    ours, theirs = matrix["ours"], matrix["theirs"]
    policies = ["csrilu02 level", "csrilu02 no level"]
    better = min(policies, key=lambda p: (math.isnan(seconds(theirs, p, "refactor")), seconds(theirs, p, "refactor")))
    baseline = {
        "solve": seconds(theirs, "SpSV", "solve"),
        "transposed": seconds(theirs, "SpSV", "transposed"),
        "solve16": seconds(theirs, "SpSM", "solve16"),
        "refactor": seconds(theirs, better, "refactor"),
        "analysis": seconds(theirs, better, "analysis") + seconds(theirs, "SpSV", "analysis"),
    }
    return {phase: time / seconds(ours, strategy, phase) for phase, time in baseline.items()}


def machine(lines):
    found = [line for line in lines if line.get("bench") == "machine"]
    if not found:
        return ""
    cuda = int(found[-1]["cuda"])
    return f"{found[-1]['gpu']}, CUDA {cuda // 1000}.{cuda % 1000 // 10}, {found[-1]['date']}"


def plot_speedup(plt, table, strategy, title):
    rows = {name: ratios(matrix, strategy) for name, matrix in table.items()}
    rows = {name: row for name, row in rows.items() if any(math.isfinite(value) for value in row.values())}
    if not rows:
        return None
    shown = ["solve", "transposed", "solve16", "refactor", "analysis"]
    width = 0.8 / len(shown)
    figure, axes = plt.subplots(figsize=(max(7, 1.0 * len(rows) + 3), 4.8))
    for k, phase in enumerate(shown):
        values = [row[phase] for row in rows.values()]
        finite = [math.log(value) for value in values if math.isfinite(value) and value > 0]
        label = LABELS[phase] + (f" (mean {math.exp(sum(finite) / len(finite)):.1f})" if finite else "")
        # bars start at 1, so that what is slower than cuSPARSE hangs down
        axes.bar([x + (k - (len(shown) - 1) / 2) * width for x in range(len(rows))], [value - 1 if math.isfinite(value) else 0 for value in values], width, bottom=1, label=label, color=COLORS[phase])
    axes.set_yscale("log")
    axes.axhline(1, color="black", linewidth=0.8)
    axes.set_xticks(range(len(rows)), list(rows), rotation=35, ha="right", fontsize=8)
    axes.set_ylabel("time of cuSPARSE / time of syncilu")
    axes.set_title(f"syncilu ({strategy}) against cuSPARSE\n{title}", fontsize=10)
    axes.grid(axis="y", which="both", alpha=0.25)
    axes.legend(fontsize=8, ncols=3)
    return figure


def plot_bound(plt, table, title):
    shown = ["refactor", "solve", "transposed"]
    strategies = list(dict.fromkeys(name for matrix in table.values() for name in matrix["ours"]))
    if not strategies:
        return None
    markers = "os^Dv<>Pp*hX"
    figure, all_axes = plt.subplots(1, len(shown), figsize=(4.2 * len(shown), 4.4), sharey=True)
    for axes, phase in zip(all_axes, shown):
        for k, strategy in enumerate([*strategies, "cuSPARSE"]):
            points = []
            for matrix in table.values():
                if strategy == "cuSPARSE":
                    names = ["csrilu02 level", "csrilu02 no level"] if phase == "refactor" else ["SpSV"]
                    found = [matrix["theirs"][name][phase] for name in names if phase in matrix["theirs"].get(name, {})]
                else:
                    found = [matrix["ours"][strategy][phase]] if phase in matrix["ours"].get(strategy, {}) else []
                found = [(time, bound) for time, bound in found if bound]
                if found:
                    time, bound = min(found)
                    points.append((matrix["rows"] / matrix["levels"], time / bound))
            if points:
                color = "0.6" if strategy == "cuSPARSE" else plt.get_cmap("tab10")(k % 10)
                axes.scatter(*zip(*points), label=strategy, marker="x" if strategy == "cuSPARSE" else markers[k % len(markers)], color=color, s=26, alpha=0.85)
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.axhline(1, color="black", linewidth=0.8)
        axes.set_title(LABELS[phase], fontsize=10)
        axes.set_xlabel("rows per level of L")
        axes.grid(which="both", alpha=0.2)
    all_axes[0].set_ylabel("time / bound")
    all_axes[0].legend(fontsize=8)
    figure.suptitle(f"Distance to max(bytes / copy bandwidth, levels x 40 ns)\n{title}", fontsize=10)
    return figure


def plot_solvers(plt, lines, title):
    problems = {}
    for line in lines:
        if line.get("bench") != "solvers":
            continue
        name = line["preconditioner"]
        if line["device"] == "cpu":
            name += f" (CPU, {int(line['ranks'])} rank{'s' if line['ranks'] != 1 else ''})"
        good = "failed" not in line and line.get("converged") and line.get("setup") is not None and line.get("solve") is not None
        problems.setdefault((line["problem"], line["solver"]), {})[name] = line if good else None
    if not problems:
        return None
    columns = min(2, len(problems))
    count = math.ceil(len(problems) / columns)
    height = 0.9 + 0.24 * max(len(rows) for rows in problems.values())
    figure, grid = plt.subplots(count, columns, figsize=(6.6 * columns, height * count + 0.6), squeeze=False)
    for axes in grid.flat[len(problems):]:
        axes.set_visible(False)
    legend = []
    for axes, ((problem, solver), rows) in zip(grid.flat, problems.items()):
        names = list(rows)
        good = [line for line in rows.values() if line]
        # what is far slower than the rest would press it flat; its bar is cut, its numbers stand beside it
        gpu = sorted(1e3 * (line["setup"] + line["solve"]) for line in good if line["device"] == "gpu")
        totals = gpu or sorted(1e3 * (line["setup"] + line["solve"]) for line in good)
        limit = 1.25 * min(totals[-1], 4 * totals[len(totals) // 2]) if totals else 1
        for y, name in enumerate(names):
            line = rows[name]
            if not line:
                axes.text(0, y, " failed", va="center", fontsize=7)
                continue
            setup, solve = 1e3 * line["setup"], 1e3 * line["solve"]
            axes.barh(y, setup, color=COLORS["refactor"], label="setup" if line is good[0] else None)
            axes.barh(y, solve, left=setup, color=COLORS["solve"], label="solve" if line is good[0] else None)
            text = f" {setup:.1f} + {solve:.1f} ms, {int(line['iterations'])} its "
            if setup + solve < 0.68 * limit:
                axes.text(setup + solve, y, text, va="center", fontsize=7)
            else:
                axes.text(0.99 * limit, y, text, va="center", ha="right", fontsize=7, bbox={"facecolor": "white", "edgecolor": "none", "pad": 1, "alpha": 0.85})
        axes.set_xlim(0, limit)
        axes.set_yticks(range(len(names)), names, fontsize=8)
        axes.invert_yaxis()
        axes.set_title(f"{problem}, {solver}", fontsize=10)
        axes.set_xlabel("ms")
        legend = legend or axes.get_legend_handles_labels()[0]
    if legend:
        figure.legend(handles=legend, fontsize=8, loc="upper right")
    figure.suptitle(f"Setup and solve\n{title}", fontsize=10)
    return figure


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--format", choices=["png", "svg"], default="png")
    parser.add_argument("--strategy", default="auto", help="of the speedups")
    arguments = parser.parse_args()
    try:
        import matplotlib
    except ImportError:
        sys.exit("plot.py: Matplotlib is not installed; pip install matplotlib, or Debian's python3-matplotlib")
    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "syncilu"  # the same data give the same file
    from matplotlib import pyplot as plt

    lines = read(arguments.file)
    table, title = kernels(lines), machine(lines)
    folder = arguments.folder or arguments.file.parent
    folder.mkdir(parents=True, exist_ok=True)
    figures = {"speedup": plot_speedup(plt, table, arguments.strategy, title), "bound": plot_bound(plt, table, title), "solvers": plot_solvers(plt, lines, title)}
    for name, figure in figures.items():
        if figure is None:
            print(f"{name}: nothing measured")
            continue
        figure.tight_layout()
        path = folder / f"{name}.{arguments.format}"
        figure.savefig(path, dpi=150)
        print(path)


if __name__ == "__main__":
    main()
