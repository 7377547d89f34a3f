#!/usr/bin/env python3
"""Plots of what the bench programs measured.

    plot.py BENCH.json [FOLDER] [--format png|svg] [--strategy NAME]

Reads JSON lines (those of bench_kernels and bench_solvers, also with "JSON " before them amid other output) and writes into FOLDER, by
default that of the file:

    speedup   time of cuSPARSE over that of syncilu, by matrix and phase
    bound     distance to the bound against rows per level, every strategy
    solvers   setup and solve time of the end-to-end solves
    backends  time of the backends host and cuda against rows, of bench_solvers -only "syncilu host,syncilu cuda"
    histories     residuals against iterations and time, of bench_solvers -histories
    applications  where the time goes, of bench_applications
    structilu     the grids of structilu.py: times of cuSPARSE over ours, in CSR and BSR, and the bandwidth of the solves

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
# of strategies, which have markers too
STRATEGY_COLORS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#882255", "#117733", "#44AA99", "#AA4499"]
STRATEGY_MARKERS = "os^Dv<>Pp*hX"
SPEEDUP_COLUMNS = 16  # matrices of a line
BACKENDS = {"syncilu host": "host", "syncilu cuda": "cuda"}
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


# which of cuSPARSE's functions a phase is compared with
FUNCTIONS = {"solve": ("SpSV", "bsrsv2"), "transposed": ("SpSV",), "solve16": ("SpSM",), "refactor": ("csrilu02", "bsrilu02")}


def fastest(side, function, phase):
    """Of the policies or algorithms of functions of cuSPARSE's, the name of the fastest in a phase."""
    names = [name for name in side if name.startswith(function) and math.isfinite(seconds(side, name, phase))]
    return min(names, key=lambda name: seconds(side, name, phase), default=None)


def ratios(matrix, strategy):
    """cuSPARSE's time over ours by phase, as the program's summary has them."""
    ours, theirs = matrix["ours"], matrix["theirs"]
    baseline = {phase: seconds(theirs, fastest(theirs, function, phase), phase) for phase, function in FUNCTIONS.items()}
    baseline["analysis"] = sum(seconds(theirs, fastest(theirs, FUNCTIONS[phase], phase), "analysis") for phase in ("refactor", "solve"))
    return {phase: time / seconds(ours, strategy, phase) for phase, time in baseline.items()}


def machine(lines):
    found = [line for line in lines if line.get("bench") == "machine"]
    if not found:
        return ""
    cuda = int(found[-1]["cuda"])
    return f"{found[-1]['gpu']}, CUDA {cuda // 1000}.{cuda % 1000 // 10}, {found[-1]['date']}"


def logarithmic(axis, low, high):
    """Ticks of a logarithmic axis as plain numbers, also between the powers of ten if these are few."""
    from matplotlib import ticker

    axis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:g}"))
    few = high < 300 * low
    axis.set_minor_formatter(ticker.FuncFormatter(lambda value, _: f"{value:g}" if few and f"{value:e}"[0] in "25" else ""))
    axis.set_tick_params(which="minor", labelsize=7)


def plot_speedup(plt, table, strategy, title):
    rows = {name: ratios(matrix, strategy) for name, matrix in table.items()}
    rows = {name: row for name, row in rows.items() if any(math.isfinite(value) for value in row.values())}
    if not rows:
        return None
    shown = ["solve", "transposed", "solve16", "refactor", "analysis"]
    width = 0.84 / len(shown)
    count = math.ceil(len(rows) / SPEEDUP_COLUMNS)  # of the lines of matrices, which are equally long
    length = math.ceil(len(rows) / count)
    lines = [list(rows)[first : first + length] for first in range(0, len(rows), length)]
    inches = max(8, 0.8 * length + 1.6)
    columns = len(shown) if inches > 11 else 3  # of the legend
    figure, plots = plt.subplots(count, squeeze=False, figsize=(inches, 1.3 + 3.9 * count), layout="constrained")
    values = {phase: [row[phase] for row in rows.values() if math.isfinite(row[phase]) and row[phase] > 0] for phase in shown}
    low = min(0.8, *(value for phase in shown for value in values[phase])) / 1.1
    high = max(1.25, *(value for phase in shown for value in values[phase])) * 1.1
    for axes, names in zip(plots[:, 0], lines):
        for k, phase in enumerate(shown):
            mean = f" (mean {math.exp(sum(map(math.log, values[phase])) / len(values[phase])):.1f})" if values[phase] else ""
            # bars start at 1, so that what is slower than cuSPARSE hangs down
            bars = [rows[name][phase] - 1 if math.isfinite(rows[name][phase]) else 0 for name in names]
            axes.bar([x + (k - (len(shown) - 1) / 2) * width for x in range(len(names))], bars, width, bottom=1, label=LABELS[phase] + mean, color=COLORS[phase], zorder=2)
        axes.set_yscale("log")
        axes.set_ylim(low, high)
        logarithmic(axes.yaxis, low, high)
        axes.axhline(1, color="black", linewidth=1, zorder=3)
        axes.text(1.004, 1, "cuSPARSE", transform=axes.get_yaxis_transform(), va="center", fontsize=8)
        axes.set_xlim(-0.6, length - 0.4)
        for x in range(len(names)):
            axes.axvline(x + 0.5, color="0.85", linewidth=0.6, zorder=0)
        axes.set_xticks(range(len(names)), names, rotation=35, ha="right", rotation_mode="anchor", fontsize=8)
        axes.set_ylabel("time of cuSPARSE / time of syncilu")
        axes.grid(axis="y", alpha=0.4)
        axes.grid(axis="y", which="minor", alpha=0.15)
    plots[0, 0].set_title(f"syncilu ({strategy}) against cuSPARSE, geometric means in brackets\n{title}", fontsize=10, pad=28 if columns == len(shown) else 40)
    plots[0, 0].legend(fontsize=8, ncols=columns, loc="lower center", bbox_to_anchor=(0.5, 1.0), frameon=False, columnspacing=1.2)
    return figure


def plot_bound(plt, table, title):
    shown = ["refactor", "solve", "transposed", "solve16"]
    strategies = list(dict.fromkeys(name for matrix in table.values() for name in matrix["ours"]))
    if not strategies:
        return None
    figure, all_axes = plt.subplots(2, 2, figsize=(12, 8.6), sharex=True, sharey=True)
    drawn = {}
    for axes, phase in zip(all_axes.flat, shown):
        for k, strategy in enumerate([*strategies, "cuSPARSE"]):
            points = []
            for matrix in table.values():
                if strategy == "cuSPARSE":
                    found = [phases[phase] for name, phases in matrix["theirs"].items() if name.startswith(FUNCTIONS[phase]) and phase in phases]
                else:
                    found = [matrix["ours"][strategy][phase]] if phase in matrix["ours"].get(strategy, {}) else []
                found = [(time, bound) for time, bound in found if bound]
                if found:
                    time, bound = min(found)
                    # side by side: those of one matrix are often as fast
                    points.append((matrix["rows"] / matrix["levels"] * 1.05 ** (k - len(strategies) / 2), time / bound))
            if not points:
                continue
            if strategy == "cuSPARSE":
                look = {"marker": "x", "color": "0.35", "linewidths": 1.3}
            else:
                color = STRATEGY_COLORS[k % len(STRATEGY_COLORS)]
                # all but the first hollow, so that none hides another
                look = {"marker": STRATEGY_MARKERS[k % len(STRATEGY_MARKERS)], "edgecolors": color, "facecolors": color if k == 0 else "none", "linewidths": 1.3}
            drawn[strategy] = axes.scatter(*zip(*points), s=32, zorder=4 if k == 0 else 3, **look)
        axes.set_title(LABELS[phase], fontsize=10)
        axes.axhline(1, color="black", linewidth=1)
    for axes in all_axes.flat:
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.tick_params(labelbottom=True, labelleft=True)
        axes.grid(alpha=0.4)
        axes.grid(which="minor", alpha=0.12)
    for axes in all_axes.flat:
        logarithmic(axes.xaxis, *axes.get_xlim())
        logarithmic(axes.yaxis, *axes.get_ylim())
    for axes in all_axes[1]:
        axes.set_xlabel("rows per level of L (the points of a matrix stand side by side)")
    for axes in all_axes[:, 0]:
        axes.set_ylabel("time / bound")
    figure.suptitle(f"Distance to the bound, max(bytes / copy bandwidth, levels x 40 ns)\n{title}", fontsize=10)
    figure.legend(drawn.values(), drawn.keys(), fontsize=9, ncols=min(7, len(drawn)), loc="lower center", frameon=False)
    figure.get_layout_engine().set(rect=(0, 0.05, 1, 0.95))
    return figure


def plot_solvers(plt, lines, title):
    problems = {}
    for line in lines:
        if line.get("bench") != "solvers" or line["preconditioner"] in BACKENDS:
            continue
        name = line["preconditioner"]
        if line["device"] == "cpu":
            name += f" (CPU, {int(line['ranks'])} rank{'s' if line['ranks'] != 1 else ''})"
        elif line.get("arrays") == "host":
            name += " (host arrays)"
        good = "failed" not in line and line.get("converged") and line.get("setup") is not None and line.get("solve") is not None
        problems.setdefault((line["problem"], line["solver"]), {})[name] = line if good else None
    if not problems:
        return None
    columns = min(2, len(problems))
    count = math.ceil(len(problems) / columns)
    sizes = [len(rows) for rows in problems.values()]
    heights = [0.9 + 0.25 * max(sizes[row * columns:(row + 1) * columns]) for row in range(count)]
    figure, grid = plt.subplots(count, columns, figsize=(7.2 * columns, sum(heights) + 0.8), squeeze=False, gridspec_kw={"height_ratios": heights})
    for axes in grid.flat[len(problems):]:
        axes.set_visible(False)
    legend = {}
    for axes, ((problem, solver), rows) in zip(grid.flat, problems.items()):
        names = list(rows)
        good = [line for line in rows.values() if line]
        # what is far slower than the rest would press it flat; its bar is cut, its numbers stand in it
        gpu = sorted(1e3 * (line["setup"] + line["solve"]) for line in good if line["device"] == "gpu")
        totals = gpu or sorted(1e3 * (line["setup"] + line["solve"]) for line in good)
        longest = max([total for total in totals if total <= 4 * totals[len(totals) // 2]]) if totals else 1
        limit = 1.5 * longest  # with room for the numbers beside
        for y, name in enumerate(names):
            line = rows[name]
            if not line:
                axes.text(0, y, " failed", va="center", fontsize=7.5)
                continue
            setup, solve = 1e3 * line["setup"], 1e3 * line["solve"]
            legend["setup"] = axes.barh(y, setup, color=COLORS["refactor"])
            legend["solve"] = axes.barh(y, solve, left=setup, color=COLORS["solve"])
            text = f"{number(setup)} + {number(solve)} ms, {int(line['iterations'])} it."
            if setup + solve <= longest:
                axes.text(setup + solve + 0.008 * limit, y, text, va="center", fontsize=7.5)
            else:
                axes.text(0.985 * limit, y, f"{text}, bar cut", va="center", ha="right", fontsize=7.5, bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.2})
        axes.set_xlim(0, limit)
        axes.set_ylim(len(names) - 0.4, -0.6)
        axes.set_yticks(range(len(names)), names, fontsize=8)
        axes.set_title(f"{problem}, {solver}", fontsize=10)
        axes.set_xlabel("ms", fontsize=8)
        axes.tick_params(axis="x", labelsize=8)
        axes.grid(axis="x", alpha=0.25)
        axes.set_axisbelow(True)
    figure.suptitle(f"Setup and solve, ms\n{title}", fontsize=10)
    if legend:
        figure.legend(legend.values(), legend.keys(), fontsize=9, loc="upper right", frameon=False)
    return figure


def number(value):
    """Three digits, and all before the point."""
    return f"{value:.0f}" if value >= 99.95 else f"{value:.3g}" if value >= 0.01 else "0"


def plot_backends(plt, lines, title):
    shown = {"setup": "setup, the first", "refactor": "setup with new values", "solve": "solve"}
    table = {}
    for line in lines:
        if line.get("bench") != "solvers" or line["preconditioner"] not in BACKENDS or line.get("setup") is None:
            continue
        key = (line["problem"].split()[0], line["solver"], line.get("arrays", "device"), BACKENDS[line["preconditioner"]])
        table.setdefault(key, {})[line["rows"]] = line
    if not table:
        return None
    figure, all_axes = plt.subplots(1, len(shown), figsize=(4.6 * len(shown), 4.8))
    kinds = list(dict.fromkeys(key[:2] for key in table))
    drawn = {}
    for axes, (phase, label) in zip(all_axes, shown.items()):
        for (problem, solver, arrays, backend), rows in table.items():
            points = sorted((count, 1e3 * line[phase]) for count, line in rows.items() if line[phase] > 0)
            if not points:
                continue
            name = f"{backend}, arrays on the {arrays}" + (f", {problem} {solver}" if len(kinds) > 1 else "")
            drawn[name] = axes.plot(*zip(*points), color=COLORS["refactor" if backend == "host" else "solve"], linestyle="-" if arrays == "device" else "--", marker=STRATEGY_MARKERS[kinds.index((problem, solver)) % len(STRATEGY_MARKERS)], markersize=4)[0]
        axes.set_xscale("log")
        axes.set_yscale("log")
        logarithmic(axes.xaxis, *axes.get_xlim())
        logarithmic(axes.yaxis, *axes.get_ylim())
        axes.set_title(label, fontsize=10)
        axes.set_xlabel("rows")
        axes.grid(alpha=0.4)
        axes.grid(which="minor", alpha=0.15)
    all_axes[0].set_ylabel("ms")
    figure.suptitle(f"The backends host and cuda by size{''.join(', ' + ' '.join(kind) for kind in kinds[:1]) if len(kinds) == 1 else ''}\n{title}", fontsize=10)
    figure.legend(drawn.values(), drawn.keys(), fontsize=8, ncols=min(4, len(drawn)), loc="lower center", frameon=False, handlelength=4)
    figure.get_layout_engine().set(rect=(0, 0.03 + 0.05 * math.ceil(len(drawn) / 4), 1, 0.97 - 0.05 * math.ceil(len(drawn) / 4)))
    return figure


def plot_histories(plt, lines, title):
    problems = {}
    for line in lines:
        if line.get("bench") == "histories" and len(line.get("history", [])) > 1 and line.get("setup") is not None:
            problems.setdefault((line["problem"], line["solver"]), {})[line["preconditioner"]] = line
    if not problems:
        return None
    names = list(dict.fromkeys(name for rows in problems.values() for name in rows))
    # a color each for what is alike: ILU(0) and IC(0), ParILUT and ParICT
    kinds = list(dict.fromkeys(name.replace("ILU", "IC").replace("ilu", "icc") for name in names))
    figure, grid = plt.subplots(len(problems), 2, figsize=(12.5, 3.6 * len(problems) + 0.4), squeeze=False, sharey="row")
    for row, ((problem, solver), found) in zip(grid, problems.items()):
        for name, line in found.items():
            kind = kinds.index(name.replace("ILU", "IC").replace("ilu", "icc"))
            norms = line["history"]
            # iterations of a method take equally long, so that its time is dealt to them
            each = line["solve"] / max(1, len(norms) - 1)
            values = [max(norm / norms[0], 1e-16) if norm is not None else math.nan for norm in norms]
            look = {"color": STRATEGY_COLORS[kind % len(STRATEGY_COLORS)], "linestyle": "-" if kind < len(STRATEGY_COLORS) else "--", "linewidth": 1.2}
            row[0].plot(range(len(values)), values, label=f"{name}{'' if line['converged'] else ' (no convergence)'}", **look)
            row[1].plot([1e3 * (line["setup"] + k * each) for k in range(len(values))], values, **look)
        row[0].set_title(f"{problem}, {solver}, {int(next(iter(found.values()))['rows']):,} rows", fontsize=10)
        row[0].set_xlabel("iterations")
        row[1].set_xlabel("ms from the beginning of the setup")
        row[1].set_xscale("log")
        row[1].set_xlim(left=min(line["setup"] + line["solve"] for line in found.values()) * 1e3 / 20)
        logarithmic(row[1].xaxis, *row[1].get_xlim())
        row[0].set_ylabel("|b - Ax| / |b|")
        row[0].legend(fontsize=7, loc="upper right")
        for axes in row:
            axes.set_yscale("log")
            axes.grid(alpha=0.4)
    figure.suptitle(f"Residuals\n{title}", fontsize=10)
    return figure


def plot_applications(plt, lines, title):
    problems = {}
    for line in lines:
        if line.get("bench") == "applications" and line.get("converged") and line.get("apply") is not None:
            problems.setdefault((line["title"], line["problem"]), {})[line["by"]] = line
    if not problems:
        return None
    figure, all_axes = plt.subplots(1, len(problems), figsize=(2.3 * len(problems) + 1, 4.4), squeeze=False)
    parts = {"factorization": "refactor", "solves": "solve", "rest": "analysis"}
    for axes, ((name, problem), found) in zip(all_axes[0], problems.items()):
        for x, line in enumerate(found.values()):
            solves = min(line["apply"] * line["applications"], line["solve"])
            bottom = 0.0
            for part, seconds_ in zip(parts, (line["factorization"], solves, line["solve"] - solves)):
                axes.bar(x, 1e3 * seconds_, bottom=bottom, color=COLORS[parts[part]], label=part if x == 0 else None)
                bottom += 1e3 * seconds_
            axes.text(x, bottom, number(bottom), ha="center", va="bottom", fontsize=8)
        axes.set_xticks(range(len(found)), [by.replace(" ", "\n") for by in found], fontsize=8)
        axes.set_title(f"{name}\n{problem}, {int(next(iter(found.values()))['iterations'])} it.", fontsize=9)
        axes.grid(axis="y", alpha=0.3)
        axes.set_axisbelow(True)
        axes.margins(y=0.1)
    all_axes[0][0].set_ylabel("ms")
    figure.legend(*all_axes[0][0].get_legend_handles_labels(), fontsize=8, loc="upper left", frameon=False)
    figure.suptitle(f"Factorization and solve\n{title}", fontsize=10)
    return figure


def plot_structilu(plt, lines, title):
    from structilu import GRIDS, collect, fastest  # which imports this file

    found = [(matrix, entry) for matrix, entry in collect(lines).items() if entry["stencil"] in GRIDS and "auto" in entry["ours"]]
    if not found:
        return None
    found.sort(key=lambda item: (list(GRIDS).index(item[1]["stencil"]), item[1]["unknowns"]))
    copies = [line["copy_bytes_per_second"] for line in lines if line.get("bench") == "machine"]
    figure, all_axes = plt.subplots(2, 1, figsize=(max(7, 0.5 * len(found) + 2), 6.6), sharex=True)
    for axes, phase, functions in zip(all_axes, ("refactor", "solve"), (("csrilu02", "bsrilu02"), ("SpSV", "bsrsv2"))):
        for side, (function, name) in enumerate(zip(functions, ("CSR", "BSR"))):
            ratio = [fastest(entry["theirs"], function, phase) / entry["ours"]["auto"][phase]["seconds"] if phase in entry["ours"]["auto"] else math.nan for _, entry in found]
            axes.bar([x + 0.4 * side - 0.2 for x in range(len(found))], [value if math.isfinite(value) else 0 for value in ratio], 0.38, color=COLORS["solve" if side else "refactor"], label=f"cuSPARSE {name}: {function}")
        axes.axhline(1, color="black", linewidth=1)
        axes.set_ylabel("time over that of syncilu")
        axes.set_title("factorization" if phase == "refactor" else "solve with L and U; below: its bytes a second over those of a copy", fontsize=10)
        axes.legend(fontsize=8)
        axes.grid(axis="y", alpha=0.4)
        axes.set_axisbelow(True)
    names = []
    for matrix, entry in found:
        name = f"{GRIDS[entry['stencil']][0]}, {entry['unknowns']}: {matrix.split(':')[1].split('x')[0]}^3"
        if copies and "solve" in entry["ours"]["auto"]:
            share = (8.0 * entry["nonzeros"] + 32.0 * entry["rows"]) / entry["ours"]["auto"]["solve"]["seconds"] / copies[-1]
            name += f", {100 * share:.0f} %"
        names.append(name)
    all_axes[1].set_xticks(range(len(found)), names, rotation=50, ha="right", rotation_mode="anchor", fontsize=8)
    figure.suptitle(f"StructILU's grids, unknowns a point\n{title}", fontsize=10)
    return figure


def pyplot(program):
    """Matplotlib without a screen, or the end of the program where it is not installed."""
    try:
        import matplotlib
    except ImportError:
        sys.exit(f"{program}: no plots, since Matplotlib is not installed; pip install matplotlib, or Debian's python3-matplotlib")
    matplotlib.use("Agg")
    matplotlib.rcParams["figure.constrained_layout.use"] = True
    matplotlib.rcParams["svg.hashsalt"] = "syncilu"  # the same data give the same file
    from matplotlib import pyplot as plt

    return plt


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--format", choices=["png", "svg"], default="png")
    parser.add_argument("--strategy", default="auto", help="of the speedups")
    arguments = parser.parse_args()
    plt = pyplot("plot.py")
    lines = read(arguments.file)
    table, title = kernels(lines), machine(lines)
    folder = arguments.folder or arguments.file.parent
    folder.mkdir(parents=True, exist_ok=True)
    figures = {"speedup": plot_speedup(plt, table, arguments.strategy, title), "bound": plot_bound(plt, table, title), "solvers": plot_solvers(plt, lines, title), "backends": plot_backends(plt, lines, title), "histories": plot_histories(plt, lines, title), "applications": plot_applications(plt, lines, title), "structilu": plot_structilu(plt, lines, title)}
    for name, figure in figures.items():
        if figure is None:
            print(f"{name}: nothing measured")
            continue
        path = folder / f"{name}.{arguments.format}"
        figure.savefig(path, dpi=150)
        print(path)


if __name__ == "__main__":
    main()
