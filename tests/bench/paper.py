#!/usr/bin/env python3
"""The comparison of the papers, from what bench_kernels measured.

    paper.py BENCH.json [FOLDER] [--format png|svg]

M. Freire, E. Dufrechou, P. Ezzatti, PDP 2025 (factorizations), and M. Freire's master's thesis, 2025 (triangular solves), compare each of
their strategies with cuSPARSE over many matrices. The same tables are printed here, in Markdown, and the plots are written into FOLDER, by
default that of the file:

    paper-factorization, paper-solve   speedup against nonzeros, levels and rows a level
    paper-boxes                        the speedups of each strategy
    paper-break-even                   solves until the longer analysis has paid
    paper-best                         which strategy is the fastest, by quartile of levels

A speedup is the time of cuSPARSE over that of syncilu. Our analysis plans the factorization and both triangles at once, so that it stands
in both comparisons as a whole, while cuSPARSE's are those of the function compared with. A last table has the distance of auto from the
fastest of the strategies that were measured beside it.
"""

import argparse
import math
import statistics
import sys
from pathlib import Path

from plot import STRATEGY_COLORS, STRATEGY_MARKERS, TOLERANCE, fastest, logarithmic, machine, pyplot, read, seconds

POLICIES = ("csrilu02 no level", "csrilu02 level")
SOLVES = (1, 10, 100)


def matrices(lines):
    """What is known of each matrix, and the seconds of each phase by library and strategy."""
    table = {}
    for line in lines:
        if line.get("bench") != "kernels" or "phase" not in line or line.get("seconds") is None or (line.get("error") or 0) > TOLERANCE:
            continue
        matrix = table.setdefault(line["matrix"], {"ours": {}, "theirs": {}})
        matrix.update(rows=line["rows"], nonzeros=line["nonzeros"], levels=max(1, line["levels_l"]))
        matrix["ours" if line["library"] == "syncilu" else "theirs"].setdefault(line["strategy"], {})[line["phase"]] = (line["seconds"], None)
    return table


def strategies(table, part):
    """Those that name what the part (0: factorization, 1: solve) shall be, and those that leave both to the library."""
    names = dict.fromkeys(name for matrix in table.values() for name in matrix["ours"])
    return [name for name in names if name == "auto" or name.split("/")[part] != "auto" or name.startswith("auto/auto/")]


def factorization(matrix, strategy, policy, analysis):
    """Speedup of a factorization, with the analysis or without."""
    phases = ("analysis", "refactor") if analysis else ("refactor",)
    return sum(seconds(matrix["theirs"], policy, p) for p in phases) / sum(seconds(matrix["ours"], strategy, p) for p in phases)


def spsv(matrix):
    return fastest(matrix["theirs"], "SpSV", "solve")


def solve(matrix, strategy, count):
    """Speedup of so many solves behind an analysis, or of one without it for a count of 0."""
    def time(side, name):
        return seconds(side, name, "solve") if not count else seconds(side, name, "analysis") + count * seconds(side, name, "solve")

    return time(matrix["theirs"], spsv(matrix)) / time(matrix["ours"], strategy)


def break_even(matrix, strategy):
    """Solves after which analysis and solves together take less than cuSPARSE's; infinite where that never happens."""
    theirs = spsv(matrix)
    ahead = seconds(matrix["ours"], strategy, "analysis") - seconds(matrix["theirs"], theirs, "analysis")
    gain = seconds(matrix["theirs"], theirs, "solve") - seconds(matrix["ours"], strategy, "solve")
    if math.isnan(ahead) or math.isnan(gain):
        return math.nan
    if ahead <= 0:
        return 0  # a shorter analysis has nothing to pay for
    return ahead / gain if gain > 0 else math.inf


def finite(values):
    return [value for value in values if math.isfinite(value)]


def print_table(title, names, columns, value):
    """For each name and column, how many of the speedups that value(name, column) lists are won, their median, mean and maximum."""
    print(f"\n{title}\n\n| strategy | {' | '.join(columns)} |\n| --- |{' --- |' * len(columns)}")
    for name in names:
        cells = []
        for column in columns:
            values = finite(value(name, column))
            if values:
                won = 100 * sum(v > 1 for v in values) / len(values)
                cells.append(f"{won:.0f} %, {statistics.median(values):.2f}, {statistics.fmean(values):.2f}, {max(values):.2f}")
            else:
                cells.append("-")
        print(f"| {name} | {' | '.join(cells)} |")


def quartiles(table):
    """The names of the matrices in four parts by their levels."""
    names = sorted(table, key=lambda name: table[name]["levels"])
    return [names[k * len(names) // 4:(k + 1) * len(names) // 4] for k in range(4)]


def winners(table, names, part):
    """How often each of our strategies, or cuSPARSE, is the fastest on the matrices named."""
    phase, function = (("refactor", "csrilu02"), ("solve", "SpSV"))[part]
    count = {}
    for name in names:
        matrix = table[name]
        times = {s: seconds(matrix["ours"], s, phase) for s in strategies({name: matrix}, part) if s != "auto"}
        baseline = fastest(matrix["theirs"], function, phase)
        times["cuSPARSE"] = seconds(matrix["theirs"], baseline, phase)
        times = {s: t for s, t in times.items() if math.isfinite(t)}
        if times:
            best = min(times, key=times.get)
            count[best] = count.get(best, 0) + 1
    return count


def print_winners(table, title, part):
    parts = quartiles(table)
    counts = [winners(table, names, part) for names in parts]
    seen = sorted({name for count in counts for name in count}, key=lambda n: -sum(c.get(n, 0) for c in counts))
    limits = [f"{table[names[0]]['levels']} to {table[names[-1]]['levels']} levels" if names else "none" for names in parts]
    print(f"\n{title}\n\n| fastest | {' | '.join(limits)} | all |\n| --- |{' --- |' * 5}")
    for name in seen:
        row = [count.get(name, 0) for count in counts]
        print(f"| {name} | {' | '.join(map(str, row))} | {sum(row)} |")


def print_auto(table, limits):
    """Where a fixed strategy takes less time than auto, by more than the limit of its phase."""
    print("\nAuto against the fastest fixed strategy\n\n| phase | within the limit | median of auto / fastest | beyond it |\n| --- | --- | --- | --- |")
    for phase, limit in limits.items():
        rows = []
        for name, matrix in table.items():
            auto = seconds(matrix["ours"], "auto", phase)
            times = {s: seconds(matrix["ours"], s, phase) for s in matrix["ours"] if s != "auto"}
            times = {s: t for s, t in times.items() if math.isfinite(t)}
            if times and math.isfinite(auto):
                fixed = min(times, key=times.get)
                rows.append((auto / times[fixed], name, fixed))
        if rows:
            beyond = sorted((row for row in rows if row[0] > limit), reverse=True)
            named = ", ".join(f"{name} {ratio:.2f} ({fixed})" for ratio, name, fixed in beyond) or "none"
            print(f"| {phase}, {limit:.2f} | {len(rows) - len(beyond)} of {len(rows)} | {statistics.median(row[0] for row in rows):.2f} | {named} |")


def scatter(plt, table, names, value, title):
    axes_of = {"nonzeros": lambda m: m["nonzeros"], "levels of L": lambda m: m["levels"], "rows a level": lambda m: m["rows"] / m["levels"]}
    figure, all_axes = plt.subplots(1, 3, figsize=(14, 4.8), sharey=True)
    drawn = {}
    for axes, (label, of) in zip(all_axes, axes_of.items()):
        for k, name in enumerate(names):
            points = [(of(m), value(m, name)) for m in table.values()]
            points = [p for p in points if math.isfinite(p[1])]
            if points:
                color = STRATEGY_COLORS[k % len(STRATEGY_COLORS)]
                drawn[name] = axes.scatter(*zip(*points), s=22, marker=STRATEGY_MARKERS[k % len(STRATEGY_MARKERS)], edgecolors=color, facecolors="none")
        axes.set_xscale("log")
        axes.set_yscale("log")
        logarithmic(axes.yaxis, *axes.get_ylim())
        axes.axhline(1, color="black", linewidth=1)
        axes.set_xlabel(label)
        axes.grid(alpha=0.3)
    all_axes[0].set_ylabel("time of cuSPARSE / time of syncilu")
    figure.suptitle(title, fontsize=10)
    figure.legend(drawn.values(), drawn.keys(), fontsize=8, ncols=6, loc="lower center", frameon=False)
    figure.get_layout_engine().set(rect=(0, 0.08, 1, 0.92))
    return figure


def boxes(plt, table, title):
    kinds = {"factorization": (0, against_better), "one solve": (1, lambda m, s: solve(m, s, 0)), "analysis and 10 solves": (1, lambda m, s: solve(m, s, 10))}
    figure, all_axes = plt.subplots(1, len(kinds), figsize=(14, 4.8))
    for axes, (kind, (part, value)) in zip(all_axes, kinds.items()):
        shown = {name: finite(value(m, name) for m in table.values()) for name in strategies(table, part)}
        shown = {name: values for name, values in shown.items() if values}
        axes.boxplot(list(shown.values()), showfliers=True, flierprops={"markersize": 3})
        axes.set_xticks(range(1, len(shown) + 1), list(shown), rotation=35, ha="right", fontsize=8)
        axes.set_yscale("log")
        logarithmic(axes.yaxis, *axes.get_ylim())
        axes.axhline(1, color="black", linewidth=1)
        axes.set_title(kind, fontsize=10)
        axes.grid(axis="y", alpha=0.3)
    all_axes[0].set_ylabel("time of cuSPARSE / time of syncilu")
    figure.suptitle(f"Speedups over all matrices\n{title}", fontsize=10)
    return figure


def against_better(matrix, strategy):
    """Against the better policy of csrilu02."""
    values = finite(factorization(matrix, strategy, policy, False) for policy in POLICIES)
    return min(values) if values else math.nan


def break_evens(plt, table, names, title):
    figure, axes = plt.subplots(figsize=(9, 4.8))
    for k, name in enumerate(names):
        values = [break_even(m, name) for m in table.values()]
        values = sorted(v for v in values if not math.isnan(v))
        if values:
            share = [100 * (i + 1) / len(values) for i in range(len(values))]
            axes.step([max(v, 0.5) for v in values if v < math.inf], share[:sum(v < math.inf for v in values)], where="post", label=name, color=STRATEGY_COLORS[k % len(STRATEGY_COLORS)])
    axes.set_xscale("log")
    axes.set_xlabel("solves (0 stands at 0.5)")
    axes.set_ylabel("% of the matrices whose analysis has paid")
    axes.set_ylim(0, 100)
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8)
    axes.set_title(f"Solves until analysis and solves take less than those of SpSV\n{title}", fontsize=10)
    return figure


def best(plt, table, title):
    figure, all_axes = plt.subplots(1, 2, figsize=(12, 4.8), sharey=True)
    for part, (axes, kind) in enumerate(zip(all_axes, ("factorization", "solve"))):
        counts = [winners(table, names, part) for names in quartiles(table)]
        bottom = [0] * 4
        for k, name in enumerate(sorted({n for count in counts for n in count})):
            heights = [count.get(name, 0) for count in counts]
            color = "0.6" if name == "cuSPARSE" else STRATEGY_COLORS[k % len(STRATEGY_COLORS)]
            axes.bar(range(4), heights, bottom=bottom, label=name, color=color)
            bottom = [b + h for b, h in zip(bottom, heights)]
        axes.set_xticks(range(4), ["fewest levels", "", "", "most levels"])
        axes.set_title(kind, fontsize=10)
        axes.legend(fontsize=8, ncols=4, loc="upper center", bbox_to_anchor=(0.5, -0.06), frameon=False)
    all_axes[0].set_ylabel("matrices on which it is the fastest")
    figure.suptitle(f"The fastest by quartile of levels\n{title}", fontsize=10)
    return figure


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--format", choices=["png", "svg"], default="png")
    arguments = parser.parse_args()
    lines = read(arguments.file)
    table, title = matrices(lines), machine(lines)
    if not table:
        sys.exit(f"paper.py: {arguments.file} has no measurements of bench_kernels")
    updates, solves = strategies(table, 0), strategies(table, 1)

    print(f"{title}\n{len(table)} matrices; in each cell: share won, median, mean and maximum of the speedup")
    print_table("Factorization against csrilu02", updates, POLICIES, lambda n, c: [factorization(m, n, c, False) for m in table.values()])
    print_table("Analysis and factorization against csrilu02's", updates, POLICIES, lambda n, c: [factorization(m, n, c, True) for m in table.values()])
    print_table("Solve against the fastest algorithm of SpSV", solves, ["one solve"], lambda n, _: [solve(m, n, 0) for m in table.values()])
    print_table("Analysis and solves against SpSV's", solves, [f"{count} solve{'s' if count > 1 else ''}" for count in SOLVES], lambda n, c: [solve(m, n, int(c.split()[0])) for m in table.values()])
    print("\nSolves until the analysis has paid\n\n| strategy | median | never, of the matrices |\n| --- | --- | --- |")
    for name in solves:
        values = [v for v in (break_even(m, name) for m in table.values()) if not math.isnan(v)]
        if values:
            print(f"| {name} | {statistics.median(values):.0f} | {sum(v == math.inf for v in values)} of {len(values)} |")
    print_winners(table, "Fastest factorization by quartile of levels", 0)
    print_winners(table, "Fastest solve by quartile of levels", 1)
    print_auto(table, {"refactor": 1.2, "solve": 1.1})

    plt = pyplot("paper.py")
    folder = arguments.folder or arguments.file.parent
    folder.mkdir(parents=True, exist_ok=True)
    figures = {
        "factorization": scatter(plt, table, updates, against_better, f"Factorization against the better policy of csrilu02\n{title}"),
        "solve": scatter(plt, table, solves, lambda m, s: solve(m, s, 0), f"Solve against the fastest algorithm of SpSV\n{title}"),
        "boxes": boxes(plt, table, title),
        "break-even": break_evens(plt, table, solves, title),
        "best": best(plt, table, title),
    }
    for name, figure in figures.items():
        path = folder / f"paper-{name}.{arguments.format}"
        figure.savefig(path, dpi=150)
        print(path)


if __name__ == "__main__":
    main()
