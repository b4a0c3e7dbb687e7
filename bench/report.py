"""Writes docs/BENCHMARKS.md and its plots, from build/bench.json and bench/report.md.in.

The text in report.md.in is written by hand. The table of that name replaces a line `{{name}}`.
A section that was not measured says so.
"""
import pathlib
import re
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
DOCS = HERE.parent / "docs"
COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"]  # color-blind safe


# ------------------------------------------------------------------- formatting --

def number(value, digits=3):
    """Significant digits, with thousands separators and no exponent."""
    if value == 0:
        return "0"
    size = len(str(int(abs(value)))) if abs(value) >= 1 else 0
    if size >= digits:
        return f"{round(value, digits - size):,.0f}"
    places = digits - size
    while abs(value) < 10 ** (-(places - digits + 1)) and places < 12:
        places += 1
    return f"{value:,.{places}f}"


def spread(fig, scale=1.0, digits=3):
    """Median, with minimum and maximum."""
    if fig is None:
        return "-"
    middle, least, most = (number(fig[key] * scale, digits) for key in ("median", "min", "max"))
    return f"{middle} ({least} to {most})" if len(fig["runs"]) > 1 else middle


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(map(str, row)) + " |" for row in rows])


def megabytes(value):
    return f"{value / 1e6:,.0f} MB"


def note(section):
    """Why a section has no table, or None."""
    if not section:
        return "Not measured."
    return f"Left out: {section['left out']}." if "left out" in section else None


# -------------------------------------------------------------------- the tables --

def commits(data):
    """The measured commit, or the sections of each commit."""
    by_commit = {}
    for section, commit in data.get("commits", {}).items():
        by_commit.setdefault(commit, []).append(section)
    if len(by_commit) < 2:
        return data["machine"]["commit"]
    return "; ".join(f"{commit} ({', '.join(names)})" for commit, names in by_commit.items())


def machine(data):
    if "machine" not in data:
        return "Not measured."
    m = data["machine"]
    caches = "; ".join(f"{name} {size}" for name, size in m["caches"].items())
    rows = [("processor", f"{m['processor']} (family {m['family']}), {m['cores']} cores"),
            ("instructions", " ".join(m["flags"])), ("caches", caches),
            ("memory", f"{m['memory_bytes'] / 2**30:.0f} GiB"), ("system", m["system"]),
            ("compiler", m["compiler"]), ("commit", commits(data)), ("date", m["date"]),
            ("threads", f"{m['threads']}, for tem and for every other program"),
            ("load average before", f"{m['load_at_start']:.2f}")]
    for name, hello in sorted(data.get("versions", {}).items()):
        rows.append((f"{name} packages", ", ".join(f"{k} {v}" for k, v in hello.items())))
    return table(("", ""), rows)


PEAK_ROWS = [("int8", "int8 multiply-adds, vpdpbusd", 1e-9, "billion/s"),
             ("int16", "int16 multiply-adds, vpdpwssd", 1e-9, "billion/s"),
             ("fp32", "fp32 multiply-adds, vfmadd", 1e-9, "billion/s"),
             ("read-22MB", "reading 22 MB in order", 1e-9, "GB/s"),
             ("read-256MB", "reading 256 MB in order", 1e-9, "GB/s"),
             ("chase-22MB", "dependent loads in 22 MB", 1e-6, "million/s"),
             ("chase-256MB", "dependent loads in 256 MB", 1e-6, "million/s"),
             ("gather-22MB", "independent loads in 22 MB, prefetched", 1e-6, "million/s"),
             ("gather-256MB", "independent loads in 256 MB, prefetched", 1e-6, "million/s")]


def peak(section):
    rows = []
    for key, title, scale, unit in PEAK_ROWS:
        if key in section and "missing" not in section[key]:
            rows.append((title, unit, spread(section[key]["one_thread"], scale),
                         spread(section[key]["all_threads"], scale)))
    for key, value in section.items():
        if key.startswith("sgemm"):
            for blas in value:
                where = "NumPy's BLAS" if blas == "numpy" else "the BLAS that FAISS calls"
                _, source, columns = key.split("-")
                rows.append((f"sgemm, 8192 x {columns[:-1]} x 8192, {where} ({source})", "GFLOP/s",
                             "", spread(value[blas])))
    return table(("", "unit", "one thread", "all threads"), rows)


def index(section):
    rows, details = [], []
    for case, r in section.items():
        shape = f"{r['rows']:,} x {r['columns']}, K = {r['neighbours']}"
        faiss = r.get("faiss")
        void = " **void**" if r.get("void") else ""
        rows.append((shape, spread(r["tem"]["build_s"]),
                     spread(faiss["seconds"]) + void if faiss else "-",
                     spread(r["ratio_faiss"]) if faiss else "-",
                     spread(r["sgemm"]["seconds"]) if faiss else "-",
                     spread(r["ratio_sgemm"]) if faiss else "-",
                     spread(r.get("share_int8"), 100), spread(r.get("share_int16"), 100)))
        details.append(index_details(shape, r))
    head = ("", "tem, s", "FAISS, s", "FAISS / tem", "sgemm alone, s", "sgemm / tem",
            "% of int8 peak", "% of int16 peak")
    return table(head, rows) + "\n\n" + "\n".join(details)


def index_details(shape, r):
    stages = ", ".join(f"{name} {number(f['median'])} s" for name, f in r["tem"]["stages"].items())
    text = (f"- {shape}: {stages}; reading the vectors {number(r['tem']['load_s']['median'])} s, "
            f"saving {number(r['save_s']['median'])} s; "
            f"peak memory {megabytes(r['tem']['peak_bytes'])}, "
            f"model file {megabytes(r['file_bytes'])}.")
    if "faiss" in r:
        f = r["faiss"]
        scaled = ("all rows" if f["queries"] == r["rows"] else
                  f"{f['queries']:,} queries, scaled to all {r['rows']:,}")
        text += (f" FAISS {f['version']} ({f['which']}, {f['options']}): {scaled}, blocks of "
                 f"{f['blocks'][0]} x {f['blocks'][1]}, {spread(f['gflops'])} GFLOP/s; sgemm "
                 f"{spread(r['sgemm']['gflops'])} GFLOP/s. Ids in common with tem's lists: "
                 f"{100 * r['agreement']['common']:.2f} %.")
    return text


def sampling(section):
    epsilons = sorted({r["epsilon"] for r in section.values() if "epsilon" in r})
    parts = []
    for model in ("default", "raw", "glove-6b-100d"):
        rows = []
        for epsilon in epsilons:
            r = section.get(f"{model}-{epsilon:g}", {})
            tail = section.get(f"{model}-tail", {}).get("evaluations", {}).get(f"{epsilon:g}")
            rows.append((f"{epsilon:g}", spread(r.get("words_per_s"), 1e-6),
                         spread(r.get("share_of_probe"), 100),
                         spread(r.get("weighted_per_s"), 1e-6), spread(r.get("ratio_weighted")),
                         "-" if tail is None else f"{tail:.2f}"))
        parts.append(f"### {model}\n\n" + table(
            ("epsilon", "million words/s", "% of the limit probe",
             "million words/s, unequal weights", "unequal / equal", "tail words per draw"), rows))
        parts.append(sampling_beside(section, model))
    return "\n\n".join(parts)


def sampling_beside(section, model):
    some = [r for key, r in section.items() if key.startswith(model) and "probe_per_s" in r]
    text = ""
    if some:
        text += (f"Limit probe: {spread(some[0]['probe_per_s'], 1e-6)} million words/s. Set-up: "
                 f"opening {number(1e3 * some[0]['open_s']['median'])} ms, mechanism "
                 f"{number(1e3 * some[0]['create_s']['median'])} ms, with unequal weights "
                 f"{number(1e3 * some[0]['create_weighted_s']['median'])} ms.")
    if f"{model}-numpy" in section:
        r = section[f"{model}-numpy"]
        text += (f" NumPy at epsilon 3: {spread(r['words_per_s'])} words/s; tem in the same "
                 f"minutes {spread(r['tem_per_s'], 1e-6)} million, "
                 f"{spread(r['ratio'])} times as many.")
    return text


def madlib(section):
    rows = []
    for r in section.values():
        void = " **void**" if r.get("void") else ""
        rows.append((f"{r['rows']:,} x {r['columns']}", f"{r['epsilon']:g}", spread(r["tem_per_s"]),
                     spread(r.get("faiss_per_s")) + void, spread(r.get("ratio")),
                     spread(r.get("share_int8"), 100), spread(r.get("faiss_gflops")),
                     spread(r.get("sgemm_gflops"))))
    return table(("", "epsilon", "tem, queries/s", "FAISS, queries/s", "tem / FAISS",
                  "% of int8 peak", "FAISS, GFLOP/s", "sgemm, GFLOP/s"), rows)


def endtoend(section):
    rows, opens = [], []
    for key, r in section.items():
        if "open_ms" in r:
            opens.append(f"{key[:-5]} {spread(r['open_ms'])} ms")
        elif key != "stream":
            model, _, what = key.rpartition("-")
            if what == "run":
                model, what = key[:-8], "--dry-run"
            else:
                what = f"--epsilon {what}"
            rows.append((f"{what}, {model}", spread(r["seconds"]), spread(r["megabytes_per_s"]),
                         megabytes(r["peak_bytes"])))
    text = table(("`tem privatize --strip-tags`", "s", "MB/s", "peak memory"), rows)
    text += "\n\nOpening a model (`tem_model_open`): " + "; ".join(opens) + "."
    if "stream" in section:
        text += "\n\n" + stream(section["stream"])
    return text


def stream(r):
    rows = [(f"{p['bytes'] / 1e6:,.0f} MB", megabytes(p["VmRSS"]), megabytes(p["RssAnon"]),
             megabytes(p["VmHWM"])) for p in r["points"]]
    return (f"A stream of {r['bytes'] / 1e9:.2f} GB through a pipe at epsilon 6: "
            f"{number(r['seconds'])} s, {number(r['megabytes_per_s'])} MB/s. Memory meanwhile:\n\n"
            + table(("read", "resident", "of this, not mapped files", "peak so far"), rows))


def growth(section):
    results = sorted(section.values(), key=lambda r: (r["columns"], r["rows"], r["neighbours"]))
    threads = sorted({r["threads"] for r in results})
    shapes = {}
    for key, r in section.items():
        columns = int(key.split("d-")[0])
        shapes.setdefault((columns, r["rows"], r["neighbours"]), {})[r["threads"]] = r
    rows = []
    for (columns, n, k), by_threads in sorted(shapes.items()):
        rows.append((columns, f"{n:,}", k, *(spread(by_threads[t]["build_s"])
                                             if t in by_threads else "-" for t in threads),
                     megabytes(max(r["peak_bytes"] for r in by_threads.values()))))
    return table(("columns", "words", "K", *(f"{t} thread{'s' * (t > 1)}, s" for t in threads),
                  "peak memory"), rows)


def packages(section):
    rows, unknown = [], []
    for key, r in section.items():
        if "package_s" in r:
            package, _, epsilon = key.rpartition("-")
            rows.append((f"{package} {r['version']}", epsilon, spread(r["package_s"], 1e3),
                         spread(r["tem_s"], 1e6), spread(r["ratio"])))
            unknown.append(f"{package} at epsilon {epsilon}: "
                           f"{100 * r['unknown_verbatim']:.0f} %")
    text = table(("", "epsilon", "ms per word", "tem, microseconds per word", "ratio"), rows)
    text += "\n\nShare of unknown words released unchanged: " + "; ".join(unknown) + "."
    if "loss" in section:
        text += "\n\n" + table(
            ("requested epsilon", "realized, score of the paper", "realized, score of mldp-text"),
            [(e, number(r["paper"]), number(r["mldp"])) for e, r in section["loss"].items()])
    return text


# --------------------------------------------------------------------- the plots --

def gnuplot(path, title, axes, curves):
    """curves: [(title, [(x, y, low, high)])]; axes: gnuplot commands."""
    script = ["set terminal svg size 760,460 font 'sans,13' background 'white'",
              f"set output '{path}'", f"set title '{title}'", "set grid", "set key outside below",
              *axes]
    parts = []
    for i, (name, points) in enumerate(curves):
        script.append(f"$c{i} << EOD")
        script += [" ".join(f"{value:.6g}" for value in point) for point in points]
        script.append("EOD")
        colour = COLOURS[i % len(COLOURS)]
        parts.append(f"$c{i} using 1:2:3:4 with yerrorbars pt 0 lc rgb '{colour}' notitle")
        parts.append(f"$c{i} using 1:2 with linespoints lw 2 pt 7 ps 0.6 lc rgb '{colour}' "
                     f"title '{name}'")
    script.append("plot " + ", ".join(parts))
    subprocess.run(["gnuplot"], input="\n".join(script) + "\n", text=True, check=True)


def point(x, fig, scale=1.0):
    return x, fig["median"] * scale, fig["min"] * scale, fig["max"] * scale


def plot_sampling(section, folder):
    curves = []
    for model in ("default", "raw", "glove-6b-100d"):
        some = [r for r in section.values() if r.get("model") == model]
        some.sort(key=lambda r: r["epsilon"])
        for name, key in (("", "words_per_s"), (", unequal weights", "weighted_per_s"),
                          (", limit probe", "probe_per_s")):
            if some:
                curves.append((model + name, [point(r["epsilon"], r[key], 1e-6) for r in some]))
    if curves:
        gnuplot(folder / "sampling.svg", "Words drawn per second, by epsilon",
                ["set logscale xy", "set xlabel 'epsilon'", "set ylabel 'million words per second'",
                 "set xrange [0.4:15]", "set xtics (0.5, 1, 2, 3, 4, 6, 8, 12)"], curves)


def plot_growth(section, folder):
    threads = max((r["threads"] for r in section.values()), default=0)
    by_curve = {}
    for key, r in section.items():
        if r["threads"] == threads and r["neighbours"] in (64, 1024):
            name = f"{key.split('-')[0]}, K = {r['neighbours']}"
            by_curve.setdefault(name, []).append(point(r["rows"], r["build_s"]))
    if by_curve:
        gnuplot(folder / "growth.svg", f"Building the index, {threads} threads",
                ["set logscale xy", "set xlabel 'words'", "set ylabel 'seconds'"],
                sorted((name, sorted(points)) for name, points in by_curve.items()))


def python(section):
    call = section.get("call")
    rows = []
    if call:
        rows.append(("one call for one word, epsilon 3, us", spread(call["c_s"], 1e6),
                     spread(call["python_s"], 1e6), f"{spread(call['added_s'], 1e6)} added"))
    for key, r in section.items():
        if key.startswith("batch-"):
            epsilon = key.split("-")[1]
            rows.append((f"{r['lines']:,} reviews, epsilon {epsilon}, {r['threads']} "
                         f"thread{'s' if r['threads'] > 1 else ''}, s", spread(r["c_s"]),
                         spread(r["python_s"]), spread(r["ratio"])))
    parts = [table(("", "C", "Python", "Python / C"), rows)]
    if "threads" in section:
        r = section["threads"]
        parts.append("Python threads, one call per review, epsilon 3: one thread takes "
                     f"{spread(r['one_s'])} s, two take {spread(r['two_s'])} s, "
                     f"{spread(r['ratio'])} times as fast. Two C threads are "
                     f"{spread(r['c_ratio'])} times as fast as one.")
    others = [(name, spread(section[name]["package_s"], 1e3), spread(section[name]["tem_s"], 1e3),
               spread(section[name]["ratio"])) for name in ("mldp-text", "pypantera")
              if name in section]
    parts.append(table(("one word per call, epsilon 3, ms", "package", "tem", "package / tem"),
                       others))
    return "\n\n".join(parts)


def mechanisms(section):
    c, own, others, left_out = section["conditions"], [], [], []
    for name, r in section.items():
        if "left out" in r:
            left_out.append(f"`{name}`: {r['left out']}")
        elif "epsilon" in r:
            own.append((f"`{name}`", f"{r['epsilon']:g}", spread(r["words_per_s"]),
                        f"{100 * r['stays']:.0f} %", number(r["create_s"]["median"], 2)))
            for other, o in r["others"].items():
                others += other_rows(name, other, o)
    m = c["machine"]
    parts = [f"Measured on {m['date']} with `bench/run --only mechanisms`, {m['processor']} "
             f"(family {m['family']}), {m['cores']} cores, load average "
             f"before {m['load_at_start']:.1f}, commit {m['commit']}; {c['words']} words "
             f"of {c['vocabulary']:,}.",
             table(("", "epsilon", "words/s", "stays itself", "set-up, s"), own)]
    if left_out:
        parts.append("Left out: " + "; ".join(left_out) + ".")
    if others:
        parts.append(table(("", "package", "words/s", "tem / package",
                            "unknown words released unchanged", "length of the noise, KS (p)",
                            "seen"), others))
    return "\n\n".join(parts)


def other_rows(name, other, o):
    package, kind = other.split()
    seen = o["seen"]
    radius = f"{seen['ks']:.3f} ({seen['ks_p']:.2g})" if "ks" in seen else "-"
    title = f"{package} {o['version']} `{kind}`"
    yield (f"`{name}`", title, spread(o["per_s"]), spread(o["ratio"]),
           f"{100 * o['unknown_verbatim']:.0f} %", radius, "; ".join(seen_texts(seen)) or "-")
    if "again_per_s" in o:
        yield (f"`{name}`", f"{title}, words seen before", spread(o["again_per_s"]),
               spread(o["again_ratio"]), "", "", "")


def seen_texts(seen):
    """What bench/rivals.py saw of an implementation, in words."""
    if "trace" in seen:
        yield f"trace of S: {seen['trace']:.2f} times the dimension"
    if "not_nearest" in seen:
        yield f"{100 * seen['not_nearest']:.0f} % of searches miss the nearest word"
    if "exchanged" in seen:
        yield f"d1 and d2 exchanged in {100 * seen['exchanged']:.0f} % of draws"
    if "other_sets" in seen:
        yield f"{100 * seen['other_sets']:.0f} % of the members of a set have another set"
    if seen.get("squares"):
        yield "distances are squared"
    if seen.get("alone", "works") != "works":
        yield f"by itself: {seen['alone'].split(':')[0]}"


# -------------------------------------------------------------------- everything --

TABLES = {"peak": peak, "index": index, "sampling": sampling, "madlib": madlib,
          "endtoend": endtoend, "growth": growth, "python-packages": packages,
          "python": python, "mechanisms": mechanisms}


def parts_of(text):
    """{heading: text with its heading}, in order; the part before the first heading is ""."""
    parts = re.split(r"^(?=## )", text, flags=re.M)
    return {"" if i == 0 else part.splitlines()[0]: part for i, part in enumerate(parts)}


def write_parts(text, page, names):
    """The page with only the parts of these sections from the new text. Results of the others may
    be elsewhere: the page keeps them as they are."""
    template, new = parts_of((HERE / "report.md.in").read_text()), parts_of(text)
    old = parts_of(page)
    chosen = {h for h in template for name in names if f"{{{{{name}}}}}" in template[h]}
    return "".join(new[h] if h in chosen else old[h] for h in template if h in chosen or h in old)


def write(data, docs=DOCS, only=()):
    """only: names of sections; the rest of an existing page stays as it is."""
    docs = pathlib.Path(docs)
    plots = docs / "benchmarks"
    plots.mkdir(parents=True, exist_ok=True)
    sections = data["sections"]

    def fill(match):
        name = match.group(1)
        if name == "machine":
            return machine(data)
        section = sections.get(name)
        return note(section) or TABLES[name](section)

    text = re.sub(r"^\{\{([a-z-]+)\}\}$", fill, (HERE / "report.md.in").read_text(), flags=re.M)
    for name, plot in (("sampling", plot_sampling), ("growth", plot_growth)):
        if only and name not in only:
            continue
        if not note(sections.get(name)):
            plot(sections[name], plots)
        else:  # no picture without a table
            text = re.sub(rf"^!\[.*{name}\.svg\)\n", "", text, flags=re.M)
            (plots / f"{name}.svg").unlink(missing_ok=True)
    page = docs / "BENCHMARKS.md"
    page.write_text(write_parts(text, page.read_text(), only) if only else text)
