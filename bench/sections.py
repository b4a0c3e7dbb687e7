"""The sections of the benchmark. Each returns its steps: what to measure, and the expected seconds.

A step's result goes into build/bench.json under its section and key as soon as it is known. Within
a step, runs of tem and of the other library alternate, so that any other load on the machine slows
both. A ratio compares two consecutive runs; its median and spread are over these ratios.
"""
import array
import collections
import os
import pathlib
import random
import subprocess
import time

from harness import GRID_SET, ROOT, Missing, figure, machine

Step = collections.namedtuple("Step", "key seconds measure")

EPSILONS = ["0.5", "1", "2", "2.5", "3", "3.5", "4", "5", "6", "8", "12"]
# Models whose vectors the other libraries have too: model: its vectors.
COMPARED = {"raw": "glove-840b-300d", "glove-6b-100d": "glove-6b-100d"}
MODELS = ("default", *COMPARED)


def in_turn(runs, measures):
    """Calls each measure `runs` times, alternating; returns {name: [results]}."""
    results = collections.defaultdict(list)
    for _ in range(runs):
        for name, measure in measures.items():
            results[name].append(measure())
    return results


def ratios(above, below):
    return figure(a / b for a, b in zip(above, below))


# ---------------------------------------------------------------------- peak --

def peak(bench):
    """The machine's own limits."""
    def arithmetic(kind):
        rates = in_turn(bench.runs(5), {
            "one_thread": lambda: bench.peak(kind, threads=1),
            "all_threads": lambda: bench.peak(kind)})
        if rates["one_thread"][0] is None:
            return {"missing": True}
        return {name: figure(values) for name, values in rates.items()}

    def memory(kind, megabytes):
        rates = in_turn(bench.runs(5), {
            "one_thread": lambda: bench.peak(kind, megabytes, threads=1),
            "all_threads": lambda: bench.peak(kind, megabytes)})
        return {name: figure(values) for name, values in rates.items()}

    def sgemm(name, columns):
        rows = 1024 if bench.quick else 8192
        rates = [bench.rival(name).ask("sgemm", columns=columns, rows=rows)
                 for _ in range(bench.runs(5))]
        return {blas: figure(rate[blas] for rate in rates) for blas in rates[0]}

    for kind in ("int8", "int16", "fp32"):
        yield Step(kind, 6, lambda kind=kind: arithmetic(kind))
    for kind in ("read", "chase", "gather"):
        for megabytes in (22, 256):
            yield Step(f"{kind}-{megabytes}MB", 15, lambda k=kind, m=megabytes: memory(k, m))
    for name in ("wheel", "debian"):
        if bench.has_rival(name):
            for columns in (100, 300):
                yield Step(f"sgemm-{name}-{columns}d", 10,
                           lambda n=name, c=columns: sgemm(n, c))


# --------------------------------------------------------------------- index --

# case: set, neighbors, queries that FAISS is measured on, approximate total seconds of one run
INDEX_CASES = {"glove-6b-100d": ("glove-6b-100d", 64, 20480, 90),
               "raw": ("glove-840b-300d", 64, 33860, 20),
               "raw-256": ("glove-840b-300d", 256, 33860, 20),
               "noisy-400k-300d": ("noisy-300d", 64, 16384, 300)}


def fastest_faiss(bench, files, k):
    """The wheel or Debian's build of FAISS, whichever is faster, loaded and tuned."""
    tried = {}
    for name in ("wheel", "debian"):
        if bench.has_rival(name):
            rival = bench.rival(name)
            added = rival.ask("faiss_load", files=files)
            tried[name] = rival.ask("faiss_tune", k=k, queries=256 if bench.quick else 4096)
            tried[name]["add_s"] = added
    best = min(tried, key=lambda name: tried[name]["seconds"])
    return best, tried


def index_case(bench, name, k, queries):
    """tem's whole index, FAISS's search of (a sample of) the rows, sgemm, the peaks."""
    files = bench.vectors(name)
    rows, columns = files["rows"], files["columns"]
    pairs = rows * (rows + 1) / 2
    if bench.quick:
        k, queries = 16, rows
    if bench.options.full:
        queries = rows
    # The raw model uses the rotated vectors that come with tem; their distances are the same.
    own = files["binary"]
    if name == "glove-840b-300d" and not bench.quick:
        own = ROOT / "data/glove-840b-33k-300d.temv"
    lists, count = bench.data / "lists", 1000
    model = bench.data / "index.tem"

    measures = {"tem": lambda: bench.program("index", own, rows, k, bench.threads, model, lists,
                                             count),
                "int8": lambda: bench.peak("int8"), "int16": lambda: bench.peak("int16")}
    if bench.has_rival():
        which, tried = fastest_faiss(bench, files, k)
        rival = bench.rival(which)
        measures["faiss"] = lambda: rival.ask("faiss_search", k=k, queries=queries)
        measures["sgemm"] = lambda: rival.ask("sgemm", columns=columns,
                                              rows=1024 if bench.quick else 8192)
    seen = in_turn(bench.runs(3), measures)

    result = {"rows": rows, "columns": columns, "neighbours": k, "kernel": seen["tem"][0]["kernel"],
              "file_bytes": model.stat().st_size,
              "save_s": figure(run["save_s"] for run in seen["tem"])}
    model.unlink()
    tem = [run["build_s"] for run in seen["tem"]]
    result["tem"] = {"build_s": figure(tem), "load_s": figure(r["load_s"] for r in seen["tem"]),
                     "peak_bytes": max(run["peak_bytes"] for run in seen["tem"]),
                     "stages": {stage: figure(r["stages"][stage] for r in seen["tem"])
                                for stage in seen["tem"][0]["stages"]}}
    for peak_name in ("int8", "int16"):
        if seen[peak_name][0]:
            result[f"share_{peak_name}"] = figure(
                pairs * columns / t / p for t, p in zip(tem, seen[peak_name]))
    if "faiss" in seen:
        result["agreement"] = rival.ask("compare_lists", lists=str(lists), count=count, k=k,
                                        exact=bench.quick)
        result.update(faiss_part(seen, tem, rows, columns, queries, tried[which]["add_s"]))
        result["faiss"].update(which=which, version=rival.hello["faiss"],
                               options=rival.hello["faiss_options"],
                               blocks=tried[which]["blocks"],
                               tried={n: t["seconds"] for n, t in tried.items()})
    return result


def faiss_part(seen, tem, rows, columns, queries, add_s):
    seconds = [add_s + run["seconds"] * rows / queries for run in seen["faiss"]]
    rate = figure(run["gflops"] for run in seen["faiss"])
    product = [max(run.values()) for run in seen["sgemm"]]  # the faster BLAS
    product_s = [2.0 * rows * rows * columns / 1e9 / p for p in product]
    return {"faiss": {"seconds": figure(seconds), "queries": queries, "gflops": rate},
            "sgemm": {"gflops": figure(product), "seconds": figure(product_s)},
            "void": rate["median"] < 0.5 * figure(product)["median"],
            "ratio_faiss": ratios(seconds, tem), "ratio_sgemm": ratios(product_s, tem)}


def index(bench):
    """The exact index of K nearest neighbors."""
    for case, (name, k, queries, seconds) in INDEX_CASES.items():
        yield Step(case, 4 * seconds, lambda n=name, k=k, q=queries: index_case(bench, n, k, q))


# ------------------------------------------------------------------ sampling --

def sampling_step(bench, model, epsilon):
    ids, weights = bench.ids(model), bench.weights(model)
    words, neighbours = bench.model_shape(model)

    def draw(seconds, *weights):
        return bench.program("draw", bench.model(model), "tem", epsilon, bench.threads,
                             bench.seconds(seconds), ids, *weights)

    seen = in_turn(bench.runs(3), {
        "tem": lambda: draw(10),
        "weighted": lambda: draw(5, weights),
        "probe": lambda: bench.program("probe", words, neighbours, bench.threads,
                                       bench.seconds(1))})
    rates = {name: [run["words_per_s"] for run in runs] for name, runs in seen.items()}
    return {"model": model, "epsilon": float(epsilon), "words": words,
            "neighbours": neighbours, "words_per_s": figure(rates["tem"]),
            "weighted_per_s": figure(rates["weighted"]),
            "ratio_weighted": ratios(rates["weighted"], rates["tem"]),
            "probe_per_s": figure(rates["probe"]),
            "share_of_probe": ratios(rates["tem"], rates["probe"]),
            "open_s": figure(run["open_s"] for run in seen["tem"]),
            "create_s": figure(run["create_s"] for run in seen["tem"]),
            "create_weighted_s": figure(run["create_s"] for run in seen["weighted"])}


def numpy_step(bench, model, epsilon):
    ids, count = bench.known_ids(model), 64 if bench.quick else 512
    files = bench.vectors(COMPARED[model])
    seen = in_turn(bench.runs(3), {
        "tem": lambda: bench.program("draw", bench.model(model), "tem", epsilon, bench.threads,
                                     bench.seconds(2), ids),
        "numpy": lambda: bench.rival().ask("numpy_tem", files=files, ids=ids, count=count,
                                           epsilon=float(epsilon))})
    rates = {name: [run["words_per_s"] for run in runs] for name, runs in seen.items()}
    return {"words_per_s": figure(rates["numpy"]), "tem_per_s": figure(rates["tem"]),
            "ratio": ratios(rates["tem"], rates["numpy"])}


def sampling(bench):
    """Words drawn per second."""
    if not bench.quick:
        bench.reviews()  # reports missing data before anything is measured
    for model in MODELS:
        yield Step(f"{model}-tail", 30, lambda m=model: bench.program(
            "tail", bench.model(m), bench.ids(m), 20 if bench.quick else 200, *EPSILONS))
        for epsilon in EPSILONS[::10] if bench.quick else EPSILONS:
            yield Step(f"{model}-{epsilon}", 80,
                       lambda m=model, e=epsilon: sampling_step(bench, m, e))
        if bench.has_rival() and model in COMPARED:
            yield Step(f"{model}-numpy", 60, lambda m=model: numpy_step(bench, m, "3"))


# -------------------------------------------------------------------- madlib --

def madlib_step(bench, model, epsilon):
    files, ids = bench.vectors(COMPARED[model]), bench.known_ids(model)
    count = 256 if bench.quick else 8192
    work = files["rows"] * files["columns"]  # multiply-adds of one exact search
    measures = {
        "tem": lambda: bench.program("draw", bench.model(model), "madlib", epsilon, bench.threads,
                                     bench.seconds(4), ids),
        "int8": lambda: bench.peak("int8")}
    result = {"model": model, "epsilon": float(epsilon), "rows": files["rows"],
              "columns": files["columns"]}
    if bench.has_rival():
        rival = bench.rival()
        rival.ask("faiss_load", files=files)
        result["blocks"] = rival.ask("madlib_noise", ids=ids, count=count,
                                     epsilon=float(epsilon))["blocks"]
        measures["faiss"] = lambda: rival.ask("madlib_search", count=count)
        measures["sgemm"] = lambda: rival.ask("sgemm", columns=files["columns"],
                                              rows=1024 if bench.quick else 4096)
    seen = in_turn(bench.runs(5), measures)
    rates = [run["words_per_s"] for run in seen["tem"]]
    result["tem_per_s"] = figure(rates)
    if seen["int8"][0]:
        result["share_int8"] = figure(r * work / p for r, p in zip(rates, seen["int8"]))
    if "faiss" in seen:
        other = [run["per_s"] for run in seen["faiss"]]
        gflops = figure(run["gflops"] for run in seen["faiss"])
        product = figure(max(run.values()) for run in seen["sgemm"])
        result.update(faiss_per_s=figure(other), faiss_gflops=gflops, sgemm_gflops=product,
                      void=gflops["median"] < 0.5 * product["median"],
                      ratio=ratios(rates, other))
    return result


def madlib(bench):
    """The nearest word of a noisy vector."""
    if not bench.quick:
        bench.reviews()
    for model in COMPARED:
        for epsilon in ("2",) if bench.quick else ("2", "10"):
            yield Step(f"{model}-{epsilon}", 120,
                       lambda m=model, e=epsilon: madlib_step(bench, m, e))


# ------------------------------------------------------------------ endtoend --

def privatize_step(bench, model, arguments):
    text = bench.reviews()
    out = bench.data / "private.txt"
    seen = [bench.command("privatize", "--quiet", "-m", bench.model(model), "--threads",
                          bench.threads, "--strip-tags", *arguments, "--force", text, "-o", out)
            for _ in range(bench.runs(3))]
    out.unlink(missing_ok=True)
    megabytes = os.path.getsize(text) / 1e6
    return {"seconds": figure(s for s, _ in seen), "megabytes": megabytes,
            "megabytes_per_s": figure(megabytes / s for s, _ in seen),
            "peak_bytes": max(memory for _, memory in seen)}


def resident(process):
    with open(f"/proc/{process.pid}/status") as status:
        lines = dict(line.split(":", 1) for line in status)
    return {name: int(lines[name].split()[0]) * 1024 for name in ("VmRSS", "VmHWM", "RssAnon")}


def stream_step(bench, megabytes):
    """Privatizes a long stream through pipes, and records the memory at ten points."""
    text = pathlib.Path(bench.reviews()).read_bytes()
    times = max(10, int(megabytes * 1e6 / len(text)))
    command = [str(bench.build / "tem"), "privatize", "--quiet", "--strip-tags", "--epsilon", "6",
               "-m", bench.model("default"), "--threads", str(bench.threads)]
    start, points = time.monotonic(), []
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    for i in range(times):
        process.stdin.write(text)
        if (i + 1) * 10 // times > i * 10 // times:
            points.append({"bytes": (i + 1) * len(text), **resident(process)})
    process.stdin.close()
    if process.wait() != 0:
        raise RuntimeError("tem privatize failed on a stream")
    spent = time.monotonic() - start
    return {"bytes": times * len(text), "seconds": spent, "points": points,
            "megabytes_per_s": times * len(text) / 1e6 / spent}


def endtoend(bench):
    """The command on the training reviews."""
    bench.reviews()
    for model in MODELS:
        yield Step(f"{model}-open", 1, lambda m=model: {
            "open_ms": figure(bench.program("open", bench.model(m), 20)["open_ms"])})
        yield Step(f"{model}-dry-run", 10,
                   lambda m=model: privatize_dry(bench, m))
        for epsilon in ("3",) if bench.quick else ("1", "3", "6", "8"):
            yield Step(f"{model}-{epsilon}", 30, lambda m=model, e=epsilon: privatize_step(
                bench, m, ["--epsilon", e]))
    yield Step("stream", 150, lambda: stream_step(bench, 2 if bench.quick else 2000))


def privatize_dry(bench, model):
    """Time to read the text, split it into words and look them up: no draws, no output."""
    text = bench.reviews()
    seen = [bench.command("privatize", "--quiet", "-m", bench.model(model), "--threads",
                          bench.threads, "--strip-tags", "--epsilon", "3", "--dry-run", text,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            for _ in range(bench.runs(5))]
    megabytes = os.path.getsize(text) / 1e6
    return {"seconds": figure(s for s, _ in seen), "megabytes": megabytes,
            "megabytes_per_s": figure(megabytes / s for s, _ in seen),
            "peak_bytes": max(memory for _, memory in seen)}


# -------------------------------------------------------------------- growth --

GROWTH_SETS = {100: "glove-6b-100d", 300: "noisy-300d"}


def growth_step(bench, columns, rows, k, threads):
    own = bench.vectors(GROWTH_SETS[columns])["binary"]
    seen = [bench.program("index", own, rows, k, threads) for _ in range(bench.runs(3))]
    return {"columns": seen[0]["dimension"], "rows": rows, "neighbours": k, "threads": threads,
            "build_s": figure(run["build_s"] for run in seen),
            "peak_bytes": max(run["peak_bytes"] for run in seen)}


def growth(bench):
    """Cost of the index by words, neighbors, columns and threads."""
    sizes = (1000, GRID_SET[1]) if bench.quick else (25000, 100000, 341479)
    for rows in sizes:
        for columns in GROWTH_SETS:
            for k in (64,) if bench.quick else (16, 64, 256, 1024):
                for threads in sorted({1, bench.threads}):
                    expected = rows * rows / 2 * columns / 1.3e11 / threads
                    yield Step(f"{columns}d-{rows}-{k}-{threads}", 3 * expected + 3,
                               lambda c=columns, r=rows, k=k, t=threads:
                               growth_step(bench, c, r, k, t))


# ----------------------------------------------------------- python-packages --

def package_text(bench, source, name):
    """Vectors for both packages, without a header and without words that contain any kind of space
    (pypantera splits rows at any white space); and {word: its row}. 9 digits are a float32."""
    path = bench.data / f"{name}.txt"
    with open(source["raw"], "rb") as raw, open(source["binary"], "rb") as binary, \
            open(path, "w", encoding="utf-8") as out:
        binary.readline()
        rows = {}
        for row in range(source["rows"]):
            word = b""
            while not word.endswith(b" "):
                word += binary.read(1)
            binary.seek(4 * source["columns"] + 1, os.SEEK_CUR)
            values = array.array("f", raw.read(4 * source["columns"]))
            word = word[:-1].decode()
            if len(word.split()) == 1:
                out.write(word + " " + " ".join(f"{v:.9g}" for v in values) + "\n")
                rows[word] = row
    return str(path), rows


def package_step(bench, package, epsilon, text, words, ids):
    """The same words, one thread each: both packages work word by word."""
    rival = bench.rival()
    rival.ask("package_load", package=package, text=text)
    rival.ask("package_draw", package=package, epsilon=float(epsilon), words=words[:1])
    seen = in_turn(bench.runs(3), {
        "package": lambda: rival.ask("package_draw", package=package, epsilon=float(epsilon),
                                     words=words),
        "tem": lambda: 1 / bench.program("draw", bench.model("raw"), "tem", epsilon, 1,
                                         bench.seconds(2), ids)["words_per_s"]})
    return {"package_s": figure(seen["package"]), "tem_s": figure(seen["tem"]),
            "ratio": ratios(seen["package"], seen["tem"]),
            "unknown_verbatim": rival.ask("package_unknown", package=package,
                                          epsilon=float(epsilon), times=5 if bench.quick else 20),
            "version": rival.hello[package]}


def python_packages(bench):
    """Other implementations of TEM."""
    if not bench.has_rival():
        raise Missing("there is no virtual environment with mldp-text and pypantera")
    rival = bench.rival()
    for package in ("mldp-text", "pypantera"):
        if package not in rival.hello:
            raise Missing(f"no {package} in the virtual environment")
    text, rows = package_text(bench, bench.vectors("glove-840b-300d"), "packages")
    chosen = random.Random(9).sample(sorted(rows), 4 if bench.quick else 16)
    ids = bench.data / "packages.ids"
    ids.write_bytes(array.array("I", [rows[word] for word in chosen] * 256).tobytes())
    for package in ("mldp-text", "pypantera"):
        for epsilon in ("3",) if bench.quick else ("1", "3", "8"):
            yield Step(f"{package}-{epsilon}", 60, lambda p=package, e=epsilon: package_step(
                bench, p, e, text, chosen, ids))
    files = bench.vectors("glove-840b-300d")
    yield Step("loss", 60, lambda: rival.ask(
        "realised_loss", files=files, epsilons=["3", "4", "5", "6"],
        sample=50 if bench.quick else 1000, pairs=2 if bench.quick else 40))


# -------------------------------------------------------------------- python --

def python_batch(bench, epsilon, threads, lines):
    """Ten thousand reviews in one call from Python, compared with a loop over them in C."""
    text, model, rival = bench.reviews(), bench.model("raw"), bench.rival()
    rival.ask("tem_load", model=model, text=text, lines=lines)
    rival.ask("tem_texts", epsilon=float(epsilon), threads=threads)
    seen = in_turn(bench.runs(5), {
        "c": lambda: bench.program("texts", model, epsilon, threads, lines, text)["seconds"],
        "python": lambda: rival.ask("tem_texts", epsilon=float(epsilon), threads=threads)})
    return {"lines": lines, "threads": threads, "c_s": figure(seen["c"]),
            "python_s": figure(seen["python"]), "ratio": ratios(seen["python"], seen["c"])}


def python_threads(bench, epsilon, lines):
    """Python threads that share a model: one and two; and the gain of two C threads here."""
    rival, model, text = bench.rival(), bench.model("raw"), bench.reviews()
    rival.ask("tem_load", model=model, text=text, lines=lines)
    rival.ask("tem_texts", epsilon=float(epsilon), threads=1)
    measures = {}
    for name, threads in (("one", 1), ("two", 2)):
        measures[name] = lambda t=threads: rival.ask("tem_python_threads", epsilon=float(epsilon),
                                                     threads=t)
        measures["c_" + name] = lambda t=threads: bench.program("texts", model, epsilon, t, lines,
                                                                text)["seconds"]
    seen = in_turn(bench.runs(5), measures)
    return {"one_s": figure(seen["one"]), "two_s": figure(seen["two"]),
            "ratio": ratios(seen["one"], seen["two"]),
            "c_ratio": ratios(seen["c_one"], seen["c_two"])}


def python_call(bench, epsilon):
    """A call for one word: the overhead of Python."""
    rival, calls = bench.rival(), 1000 if bench.quick else 100000
    rival.ask("tem_load", model=bench.model("raw"), text=bench.reviews(), lines=1)
    seen = in_turn(bench.runs(5), {
        "c": lambda: bench.program("texts", bench.model("raw"), epsilon, 1, 1,
                                   bench.reviews())["call_s"],
        "python": lambda: rival.ask("tem_call", epsilon=float(epsilon), calls=calls)})
    return {"c_s": figure(seen["c"]), "python_s": figure(seen["python"]),
            "added_s": figure(p - c for p, c in zip(seen["python"], seen["c"]))}


def python_package(bench, package, epsilon, text, words):
    """The same words, one call each, with tem's package and with another one."""
    rival = bench.rival()
    rival.ask("package_load", package=package, text=text)
    rival.ask("tem_load", model=bench.model("raw"), text=bench.reviews(), lines=1)
    ask = {"package": lambda: rival.ask("package_draw", package=package, epsilon=float(epsilon),
                                        words=words),
           "tem": lambda: rival.ask("tem_words", epsilon=float(epsilon), words=words * 256)}
    for first in ask.values():
        first()
    seen = in_turn(bench.runs(3), ask)
    return {"package_s": figure(seen["package"]), "tem_s": figure(seen["tem"]),
            "ratio": ratios(seen["package"], seen["tem"])}


def python(bench):
    """tem's Python package, compared with the library and other packages."""
    if "tem" not in bench.rival().hello:
        raise Missing("the virtual environment has no package tem; bench/make-venv installs it")
    lines = 500 if bench.quick else 10000
    bench.reviews()
    yield Step("call", 30, lambda: python_call(bench, "3"))
    for epsilon in ("3",) if bench.quick else ("1", "3", "6"):
        for threads in sorted({1, bench.threads}):
            yield Step(f"batch-{epsilon}-{threads}", 60, lambda e=epsilon, t=threads: python_batch(
                bench, e, t, lines))
    yield Step("threads", 60, lambda: python_threads(bench, "3", lines))
    text, rows = package_text(bench, bench.vectors("glove-840b-300d"), "packages")
    words = random.Random(9).sample(sorted(rows), 4 if bench.quick else 16)
    for package in ("mldp-text", "pypantera"):
        yield Step(package, 60, lambda p=package: python_package(bench, p, "3", text, words))


# ---------------------------------------------------------------- mechanisms --

# mechanism: its epsilon, and the same mechanism in the packages of others. At this epsilon some
# words stay themselves and some do not (the table says how many), so the law is neither certain nor
# uniform.
MECHANISMS = {
    "tem": ("3", ("mldp-text TEM", "pypantera TEM")),
    "em": ("3", ()),
    "rank": ("1", ()),
    "coin": ("9", ()),
    "permute-and-flip": ("3", ()),
    "santext": ("3", ("pypantera SanText",)),
    "santext-plus": ("3", ()),
    "custext": ("6", ("pypantera CusText",)),
    "custext-plus": ("6", ()),
    "diffractor": ("1", ()),
    "madlib": ("8", ("mldp-text MultivariateCalibrated", "pypantera CMP")),
    "mahalanobis": ("8", ("mldp-text Mahalanobis", "pypantera Mahalanobis")),
    "vickrey": ("8", ("pypantera VickreyCMP",)),
    "vickrey-exclude": ("8", ("mldp-text VickreyMechanism",)),
    "gumbel": ("60", ("mldp-text TruncatedGumbel",))}


def other_part(bench, rival, name, seen, tem, arguments):
    """The figures of one implementation of others."""
    result = {"per_s": figure(run["per_s"] for run in seen),
              "ratio": ratios(tem, [run["per_s"] for run in seen]),
              "version": rival.hello[name.split()[0]],
              "unknown_verbatim": rival.ask("other_unknown", times=20, **arguments),
              "seen": rival.ask("other_checks", count=100 if bench.quick else 1000, **arguments)}
    if "again_per_s" in seen[0]:
        result["again_per_s"] = figure(run["again_per_s"] for run in seen)
        result["again_ratio"] = ratios(tem, [run["again_per_s"] for run in seen])
    return result


def mechanism_step(bench, name, text, words, ids):
    """One mechanism on one thread, and the same of the packages for the same words."""
    epsilon, others = MECHANISMS[name]
    others = {other: {"name": other, "text": text, "epsilon": float(epsilon)} for other in
              (others if bench.has_rival("one") else ())}
    measures = {"tem": lambda: bench.program("draw", bench.model("default"), name, epsilon, 1,
                                             bench.seconds(2), ids)}
    for other, arguments in others.items():
        bench.rival("one").ask("other_draw", words=words[:1], seconds=0, **arguments)
        measures[other] = lambda a=arguments: bench.rival("one").ask(
            "other_draw", words=words, seconds=bench.seconds(3), **a)
    seen = in_turn(bench.runs(3), measures)
    tem = [run["words_per_s"] for run in seen["tem"]]
    return {"epsilon": float(epsilon), "words_per_s": figure(tem),
            "create_s": figure(run["create_s"] for run in seen["tem"]),
            "stays": sum(run["stays"] for run in seen["tem"]) / len(tem),
            "others": {other: other_part(bench, bench.rival("one"), other, seen[other], tem,
                                         arguments) for other, arguments in others.items()}}


def mechanisms(bench):
    """Every mechanism of tem, and the same mechanisms of other packages."""
    metric = bench.described("info", "-m", bench.model("default"))["metric"]
    text, rows = package_text(bench, bench.model_vectors("default"), "default-words")
    words = random.Random(10).sample(sorted(rows), 16 if bench.quick else 500)
    ids = bench.data / "mechanisms.ids"
    ids.write_bytes(array.array("I", [rows[word] for word in words]).tobytes())
    yield Step("conditions", 0, lambda: conditions(bench, len(rows), len(words)))
    for kind in bench.described("mechanisms")["mechanisms"]:
        needs = kind["needs_metric"]
        if needs not in (None, metric):
            yield Step(kind["name"], 0, lambda n=needs: {"left out": f"needs the metric {n}"})
        else:
            yield Step(kind["name"], 60, lambda n=kind["name"]: mechanism_step(
                bench, n, text, words, ids))


def conditions(bench, vocabulary, words):
    """The section's own machine: it may be measured on another day than the rest of the page."""
    return {"machine": machine(bench), "vocabulary": vocabulary, "words": words}


SECTIONS = {"peak": peak, "index": index, "sampling": sampling, "madlib": madlib,
            "endtoend": endtoend, "growth": growth, "python-packages": python_packages,
            "python": python, "mechanisms": mechanisms}
