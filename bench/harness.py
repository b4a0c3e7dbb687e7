"""Shared by every section of the benchmark: numbers, results on disk, programs, data.

Uses only the standard library, so that the C parts run without the virtual environment. Everything
that needs NumPy or another package runs in bench/rivals.py, a separate process (see Rival).
"""
import array
import json
import os
import pathlib
import platform
import random
import re
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
HERE = pathlib.Path(__file__).resolve().parent

# name: rows, columns of the file that tools/fetch-vectors fetches
SETS = {"glove-6b-100d": (341479, 100), "glove-840b-300d": (33860, 300)}
NOISY_ROWS = 400000
GRID_SET = ("grid", 2000, 64)  # small integers: float32 is exact on them, so results must agree


class Missing(Exception):
    """Something that a section needs is missing; the section is left out and says why."""


def figure(runs):
    """Median and spread of several runs of one measurement."""
    runs = [float(run) for run in runs]
    return {"median": statistics.median(runs), "min": min(runs), "max": max(runs), "runs": runs}


def say(text):
    print(f"bench: {text}", file=sys.stderr, flush=True)


class Store:
    """build/bench.json: written after every step, so that an interrupted run keeps its results."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.data = json.loads(self.path.read_text()) if self.path.exists() else {}
        self.data.setdefault("sections", {})

    def has(self, section, key):
        return key in self.data["sections"].get(section, {})

    def forget(self, section):
        self.data["sections"].pop(section, None)

    def remove(self, section, key):
        self.data["sections"].get(section, {}).pop(key, None)

    def put(self, section, key, value):
        self.data["sections"].setdefault(section, {})[key] = value
        self.write()

    def write(self):
        self.path.parent.mkdir(parents=True, exist_ok=True)
        temporary = self.path.with_suffix(".tmp")
        temporary.write_text(json.dumps(self.data, indent=1) + "\n")
        temporary.replace(self.path)


class Rival:
    """A process of bench/rivals.py that takes one measurement at a time.

    The process stays alive between the questions. So imports and loading are not timed, and runs
    of tem and of the other library can alternate.
    """

    def __init__(self, python, threads):
        environment = dict(os.environ, PYTHONUNBUFFERED="1", PYTHONNOUSERSITE="1")
        for name in ("OMP", "OPENBLAS", "MKL", "NUMBA", "BLIS"):
            environment[f"{name}_NUM_THREADS"] = str(threads)
        self.process = subprocess.Popen([str(python), str(HERE / "rivals.py"), str(threads)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        env=environment, text=True)

    def ask(self, question, **arguments):
        self.process.stdin.write(json.dumps({"question": question, **arguments}) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{question}: the process ended with {self.process.wait()}")
        answer = json.loads(line)
        if "error" in answer:
            raise RuntimeError(f"{question}: {answer['error']}")
        return answer["answer"]

    def close(self):
        self.process.kill()  # it is idle, or nobody waits for its answer any more
        self.process.wait()


def start_rival(python, threads):
    """Returns a Rival that has FAISS, or a Missing that says why there is none."""
    if not python.exists():
        return Missing(f"the virtual environment has no {python.name}; `make bench` creates it")
    rival = Rival(python, threads)
    try:
        rival.hello = rival.ask("hello")
    except (RuntimeError, OSError) as fault:
        return Missing(str(fault))
    if "faiss" not in rival.hello:
        rival.close()
        return Missing(f"{python} has no faiss")
    return rival


class Bench:
    """One run of the benchmark: its settings, and the functions that measure."""

    def __init__(self, options, store):
        self.options = options
        self.store = store
        self.quick = options.quick
        self.threads = options.threads
        self.build = pathlib.Path(options.build).resolve()
        self.data = pathlib.Path(options.data or self.build / "bench-data").resolve()
        self.data.mkdir(parents=True, exist_ok=True)
        self.rivals = {}

    # ------------------------------------------------------------- running --
    def runs(self, usual):
        """Number of runs: 5 for short measurements, 3 for long ones."""
        return self.options.runs or (2 if self.quick else usual)

    def seconds(self, usual):
        return 0.05 if self.quick else usual

    def program(self, name, *arguments):
        """Runs one of bench/*.c; returns its output."""
        command = [str(self.build / "bench" / f"bench_{name}"), *map(str, arguments)]
        result = subprocess.run(command, stdout=subprocess.PIPE, text=True)
        if result.returncode != 0:
            raise RuntimeError(f"{' '.join(command)}: exit status {result.returncode}")
        return json.loads(result.stdout)

    def command(self, *arguments, **files):
        """Runs tem; returns (seconds, peak memory in bytes)."""
        start = time.monotonic()
        process = subprocess.Popen([str(self.build / "tem"), *map(str, arguments)], **files)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            raise RuntimeError(f"tem {arguments[0]}: exit status {process.returncode}")
        return time.monotonic() - start, usage.ru_maxrss * 1024

    def peak(self, kind, *megabytes, threads=None, seconds=0.5):
        """One of the machine's limits, or None if the CPU lacks the instruction."""
        if self.quick:
            megabytes = [1 for _ in megabytes]
        return self.program("peak", kind, threads or self.threads, self.seconds(seconds),
                            *megabytes)["rate"]

    def rival(self, name="wheel"):
        """"wheel": the virtual environment; "one": the same on one thread; "debian": the system's
        Python with its FAISS."""
        if name not in self.rivals:
            python = "/usr/bin/python3" if name == "debian" else self.options.python
            self.rivals[name] = start_rival(pathlib.Path(python),
                                            1 if name == "one" else self.threads)
        if isinstance(self.rivals[name], Missing):
            raise self.rivals[name]
        return self.rivals[name]

    def has_rival(self, name="wheel"):
        try:
            self.rival(name)
        except Missing:
            return False
        return True

    def versions(self):
        return {name: rival.hello for name, rival in self.rivals.items()
                if name != "one" and self.has_rival(name)}

    def close(self):
        for name in self.rivals:
            if self.has_rival(name):
                self.rivals[name].close()

    # ---------------------------------------------------------------- data --
    def vectors(self, name):
        """A set of vectors: {"rows", "columns", "raw", "binary"}, created once.

        raw: float32, row by row, for the other libraries; binary: the same numbers as a word2vec
        file, for tem. "noisy-300d": the rows of glove-840b-300d repeated, each time with fresh
        noise of half a column's deviation, because there are not enough real rows.
        """
        if self.quick:
            return self.grid_set()
        rows, columns = SETS.get(name, (NOISY_ROWS, 300))
        files = {"rows": rows, "columns": columns, "raw": str(self.data / f"{name}.f32"),
                 "binary": str(self.data / f"{name}.bin")}
        if not os.path.exists(files["binary"]):
            say(f"preparing {name}")
            if name == "noisy-300d":
                self.rival().ask("make_noisy", base=self.vectors("glove-840b-300d"), rows=rows,
                                 raw=files["raw"], binary=files["binary"])
            else:
                self.rival().ask("make_set", text=self.fetched(name), rows=rows, columns=columns,
                                 raw=files["raw"], binary=files["binary"])
        return files

    def fetched(self, name):
        """The text file of a set: from --vectors, or fetched."""
        path = pathlib.Path(self.options.vectors or self.data) / f"{name}.txt"
        if not path.exists():
            subprocess.run([str(ROOT / "tools/fetch-vectors"), name, "-o", str(path)], check=True)
        return str(path)

    def grid_set(self):
        name, rows, columns = GRID_SET
        files = {"rows": rows, "columns": columns, "raw": str(self.data / f"{name}.f32"),
                 "binary": str(self.data / f"{name}.bin")}
        if os.path.exists(files["binary"]):
            return files
        generator = random.Random(1)
        with open(files["raw"], "wb") as raw, open(files["binary"], "wb") as binary:
            binary.write(b"%d %d\n" % (rows, columns))
            for row in range(rows):
                values = array.array("f", (generator.randint(-15, 15) for _ in range(columns)))
                raw.write(values.tobytes())
                binary.write(b"w%d " % row + values.tobytes() + b"\n")
        return files

    def model(self, name):
        """The model file of a set with the default number of neighbors; "default" and "raw": those
        of the build directory."""
        if name in ("default", "raw") and not self.quick:
            return str(self.build / f"{name}.tem")
        path = self.data / f"{'grid' if self.quick else name}.tem"
        if not path.exists() or path.stat().st_mtime < (self.build / "tem").stat().st_mtime:
            # A quick run takes this one for the default model, which has an order.
            order = ["--order", "auto"] if self.quick else []
            self.command("build", "--quiet", "--force", "--space", "raw", *order,
                         self.vectors(name)["binary"], "-o", path)
        return str(path)

    def model_vectors(self, name):
        """The vectors that a model holds, as files like those of vectors()."""
        base = self.data / f"{'grid' if self.quick else name}-model"
        files = {"raw": f"{base}.f32", "binary": f"{base}.bin"}
        return {**files, **self.program("vectors", self.model(name), files["raw"],
                                        files["binary"])}

    def described(self, *arguments):
        """The JSON object that a command of tem prints."""
        result = subprocess.run([str(self.build / "tem"), *arguments, "--json"],
                                stdout=subprocess.PIPE, check=True)
        return json.loads(result.stdout)

    def model_shape(self, name):
        information = self.described("info", "-m", self.model(name))
        return information["words"], information["neighbours"]

    def reviews(self, tags=True):
        """The training reviews, one per line, with or without their HTML tags."""
        path = self.data / ("train.txt" if tags else "train-plain.txt")
        if self.quick:
            path = self.data / "quick.txt"
            path.write_text("the acting is wonderful, and the ending made me cry\n" * 2000)
        elif not path.exists():
            folder = pathlib.Path(self.options.imdb or "/nonexistent") / "train"
            files = sorted(folder.glob("pos/*.txt")) + sorted(folder.glob("neg/*.txt"))
            if not files:
                raise Missing("no IMDB reviews; --imdb names the unpacked aclImdb directory")
            with open(path, "w", encoding="utf-8", newline="") as out:
                for file in files:
                    text = file.read_text(encoding="utf-8")
                    out.write((text if tags else re.sub(r"<[^<>]*>", " ", text)) + "\n")
        return str(path)

    def ids(self, name):
        """A file with the reviews' words as ids of a model; in a quick run, uniform random ids."""
        path = self.data / f"{'grid' if self.quick else name}.ids"
        if self.quick:
            generator = random.Random(2)
            rows = GRID_SET[1]
            path.write_bytes(array.array("I", (generator.randrange(rows) for _ in
                                               range(20000))).tobytes())
        elif not path.exists():
            self.program("pieces", self.model(name), self.reviews(tags=False), path)
        return str(path)

    def known_ids(self, name):
        """A file with the ids of the reviews' words that the vocabulary has."""
        path = self.data / f"{'grid' if self.quick else name}.known"
        ids = array.array("I", pathlib.Path(self.ids(name)).read_bytes())
        path.write_bytes(array.array("I", (i for i in ids if i != 0xffffffff)).tobytes())
        return str(path)

    def weights(self, name):
        """A file of unequal output weights, log-uniform from 1000 to 4000."""
        path = self.data / f"{'grid' if self.quick else name}.weights"
        if not path.exists():
            generator = random.Random(3)
            words = self.model_shape(name)[0]
            path.write_bytes(array.array("I", (int(1000 * 4 ** generator.random())
                                               for _ in range(words))).tobytes())
        return str(path)


# ------------------------------------------------------------------- the machine --

def first_line(command):
    try:
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                              cwd=ROOT, check=True).stdout.splitlines()[0]
    except (OSError, subprocess.CalledProcessError, IndexError):
        return "unknown"


def machine(bench):
    """The machine on which the numbers were measured."""
    lscpu = {}
    for line in subprocess.run(["lscpu"], stdout=subprocess.PIPE, text=True,
                               env=dict(os.environ, LC_ALL="C")).stdout.splitlines():
        name, _, value = line.partition(":")
        lscpu[name.strip()] = value.strip()
    wanted = [flag for flag in lscpu.get("Flags", "").split()
              if re.match(r"avx|fma|amx|sha_ni|vaes", flag)]
    with open("/proc/meminfo") as meminfo:
        memory = int(meminfo.readline().split()[1]) * 1024
    compiled = json.loads((bench.build / "compile_commands.json").read_text())[0]["command"]
    return {"processor": lscpu.get("Model name", platform.machine()),
            "family": f"{lscpu.get('CPU family', '?')}, model {lscpu.get('Model', '?')}",
            "cores": os.cpu_count(), "flags": wanted,
            "caches": {name: lscpu[name] for name in lscpu if name.endswith("cache")},
            "memory_bytes": memory, "system": platform.platform(),
            "compiler": first_line([compiled.split()[0], "--version"]),
            "commit": first_line(["git", "describe", "--always", "--dirty", "--abbrev=12"]),
            "load_at_start": os.getloadavg()[0], "threads": bench.threads,
            "date": time.strftime("%Y-%m-%d")}
