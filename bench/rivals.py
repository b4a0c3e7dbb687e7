"""The libraries that tem is compared with. Reads one question per line, writes one answer per line.

bench/harness.py runs this with the Python that has the libraries. A question is a JSON object on
stdin, {"question": name, ...}; the answer is a JSON object on stdout. Output of the libraries
goes to stderr.
"""
import concurrent.futures
import ctypes
import glob
import importlib
import importlib.metadata
import json
import math
import os
import sys
import time
import timeit

import numpy as np

THREADS = int(sys.argv[1])
STATE = {}  # state loaded by an earlier question

# Sizes of the blocks in which FAISS multiplies (queries, rows); the first are FAISS's own.
FAISS_BLOCKS = [(4096, 1024), (4096, 4096), (1024, 8192), (512, 16384)]


def seconds_of(function):
    start = time.perf_counter()
    result = function()
    return time.perf_counter() - start, result


def hello():
    """Versions of the installed packages."""
    versions = {"python": sys.version.split()[0], "numpy": np.__version__}
    try:
        import faiss
        faiss.omp_set_num_threads(THREADS)
        versions["faiss"] = faiss.__version__
        versions["faiss_options"] = faiss.get_compile_options().strip()
    except ImportError:
        pass
    for name in ("mldp-text", "pypantera", "tem"):
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            pass
    return versions


# -------------------------------------------------------------------- vectors --

def rows_of(files, limit=None):
    values = np.fromfile(files["raw"], dtype=np.float32).reshape(-1, files["columns"])
    return values[:limit]


def write_set(words, values, raw, binary):
    values.tofile(raw)
    with open(binary + ".tmp", "wb") as file:
        file.write(b"%d %d\n" % values.shape)
        for word, row in zip(words, values):
            file.write(word + b" " + row.tobytes() + b"\n")
    os.replace(binary + ".tmp", binary)


def make_set(text, rows, columns, raw, binary):
    """GloVe or word2vec text as float32. One space separates the columns, and a word may contain a
    no-break space, so this splits at that one space only."""
    words, values = [], np.empty((rows, columns), dtype=np.float32)
    with open(text, "rb") as file:
        for line in file:
            word, _, numbers = line.rstrip(b"\n").partition(b" ")
            if not words and numbers == b"%d" % columns:
                continue  # the header of word2vec text
            values[len(words)] = np.fromstring(numbers.decode(), dtype=np.float32, sep=" ")
            words.append(word)
    assert len(words) == rows
    write_set(words, values, raw, binary)


def make_noisy(base, rows, raw, binary):
    generator = np.random.default_rng(4)
    real = rows_of(base)
    deviation = 0.5 * real.std(axis=0)
    values = np.tile(real, (-(-rows // len(real)), 1))[:rows]
    for start in range(len(real), rows, len(real)):
        part = values[start:start + len(real)]
        part += deviation * generator.standard_normal(part.shape, dtype=np.float32)
    write_set([b"w%d" % row for row in range(rows)], values, raw, binary)


# ------------------------------------------------------------ exact neighbors --

def faiss_load(files, limit=None):
    """Creates IndexFlatL2 of the rows; returns the seconds for adding them."""
    import faiss
    STATE.clear()
    rows = np.ascontiguousarray(rows_of(files, limit))
    index = faiss.IndexFlatL2(rows.shape[1])
    added, _ = seconds_of(lambda: index.add(rows))
    STATE.update(rows=rows, index=index)
    return added


def set_blocks(blocks):
    import faiss
    faiss.cvar.distance_compute_blas_query_bs, faiss.cvar.distance_compute_blas_database_bs = blocks


def faiss_tune(k, queries):
    """Finds the block sizes at which FAISS is fastest here, and keeps them."""
    best = {}
    for _ in range(2):  # alternate: another process that wakes up slows only one round
        for blocks in FAISS_BLOCKS:
            set_blocks(blocks)
            best[blocks] = min(best.get(blocks, math.inf), faiss_search(k, queries)["seconds"])
    fastest = min(best, key=best.get)
    set_blocks(fastest)
    return {"blocks": fastest, "seconds": best[fastest]}


def faiss_search(k, queries):
    rows = STATE["rows"][:queries]
    spent, _ = seconds_of(lambda: STATE["index"].search(rows, k))
    flop = 2.0 * len(rows) * len(STATE["rows"]) * rows.shape[1]
    return {"seconds": spent, "gflops": flop / spent / 1e9, "queries": len(rows)}


def steps_of(square):
    """tem's distance for an integer squared distance: steps of 2^-16, rounded up."""
    root = math.isqrt(square << 32)
    return root + (root * root < square << 32)


def compare_lists(lists, count, k, exact):
    """Compares tem's lists of the first `count` rows with FAISS's.

    exact: the rows are small integers, on which float32 makes no error. So all distances must be
    equal, and all ids except those at the last distance, where either library may choose.
    Otherwise returns the share of common ids, since float32 and the grid round differently.
    """
    pairs = np.fromfile(lists, dtype=np.uint32).reshape(count, k, 2)
    squares, ids = STATE["index"].search(STATE["rows"][:count], k)
    common = sum(len(set(pairs[i, :, 0]) & set(ids[i])) for i in range(count)) / (count * k)
    if not exact:
        return {"common": common}
    for i in range(count):
        steps = [steps_of(round(float(square))) for square in squares[i]]
        ours = pairs[i].tolist()
        inner = {int(y) for y, d in zip(ids[i], steps) if d < steps[-1]}
        if [d for _, d in ours] != steps or ours != sorted(ours, key=lambda p: (p[1], p[0])) or \
                {y for y, d in ours if d < steps[-1]} != inner:
            return {"common": common, "equal": False, "row": i}
    return {"common": common, "equal": True}


# ------------------------------------------------------------- matrix products --

def blas_of_faiss():
    """The sgemm that FAISS calls: the library inside the wheel, or the system's."""
    import faiss
    folder = os.path.join(os.path.dirname(os.path.dirname(faiss.__file__)), "faiss_cpu.libs")
    found = glob.glob(os.path.join(folder, "libopenblas*"))
    return ctypes.CDLL(found[0] if found else "libblas.so.3")


def sgemm_numpy(a, b, product):
    np.matmul(a, b.T, out=product)


def sgemm_faiss(a, b, product):
    one, zero = ctypes.c_float(1), ctypes.c_float(0)
    m, n, k = (ctypes.c_int(value) for value in (len(b), len(a), a.shape[1]))
    pointer = [x.ctypes.data_as(ctypes.c_void_p) for x in (b, a, product)]
    by = ctypes.byref
    STATE["blas"].sgemm_(b"T", b"N", by(m), by(n), by(k), by(one), pointer[0], by(k), pointer[1],
                         by(k), by(zero), pointer[2], by(m))


def sgemm(columns, rows=8192):
    """GFLOP/s with each BLAS of a product of two matrices of rows x columns."""
    generator = np.random.default_rng(5)
    a, b = (generator.standard_normal((rows, columns), dtype=np.float32) for _ in range(2))
    product = np.zeros((rows, rows), dtype=np.float32)
    if "blas" not in STATE:
        STATE["blas"] = blas_of_faiss()
    rates = {}
    for name, multiply in (("numpy", sgemm_numpy), ("faiss", sgemm_faiss)):
        multiply(a[:64], b[:64], np.zeros((64, 64), dtype=np.float32))
        spent, _ = seconds_of(lambda: multiply(a, b, product))
        rates[name] = 2.0 * rows * rows * columns / spent / 1e9
    return rates


# --------------------------------------------------------------------- madlib --

def known_ids(path, count, rows):
    ids = np.fromfile(path, dtype=np.uint32)
    return ids[ids < rows][:count]


def madlib_noise(ids, count, epsilon):
    """Noisy vectors of the first words of a stream: a direction, and a length drawn from Gamma(d,
    1/epsilon). They are drawn here, so that only the search is timed."""
    generator = np.random.default_rng(6)
    rows = STATE["rows"]
    chosen = rows[known_ids(ids, count, len(rows))]
    noise = generator.standard_normal(chosen.shape)
    noise *= (generator.gamma(rows.shape[1], 1 / epsilon, len(chosen)) /
              np.linalg.norm(noise, axis=1))[:, None]
    STATE["noisy"] = (chosen + noise).astype(np.float32)
    best = {}
    for blocks in FAISS_BLOCKS * 2:
        set_blocks(blocks)
        best[blocks] = min(best.get(blocks, math.inf), madlib_search(2048)["seconds"])
    fastest = min(best, key=best.get)
    set_blocks(fastest)
    return {"blocks": fastest}


def madlib_search(count):
    queries = STATE["noisy"][:count]
    spent, _ = seconds_of(lambda: STATE["index"].search(queries, 1))
    flop = 2.0 * len(queries) * len(STATE["rows"]) * queries.shape[1]
    return {"seconds": spent, "per_s": len(queries) / spent, "gflops": flop / spent / 1e9}


# ------------------------------------------------------ TEM as one would in NumPy --

def numpy_tem(files, ids, count, epsilon, batch=64):
    """Algorithm 2 of the paper over whole batches, in float32: all distances by a matrix product,
    Gumbel noise on each of them and on the single score of the words beyond gamma."""
    generator = np.random.default_rng(7)
    if STATE.get("tem") != files["raw"]:
        STATE.clear()
        rows = rows_of(files)
        STATE.update(tem=files["raw"], rows=rows, squares=(rows * rows).sum(axis=1))
    rows, squares = STATE["rows"], STATE["squares"]
    n, scale = len(rows), 2 / epsilon
    gamma = scale * math.log(0.999 * (n - 1) / 0.001)
    words = known_ids(ids, count, n)

    def draw(part):
        distances = squares[part][:, None] + squares - 2 * (rows[part] @ rows.T)
        np.sqrt(np.maximum(distances, 0, out=distances), out=distances)
        far = distances > gamma
        noise = generator.standard_exponential(distances.shape, dtype=np.float32)
        np.log(np.maximum(noise, 1e-37, out=noise), out=noise)  # 0 would always win
        noise *= -scale
        scores = noise - distances
        scores[far] = -np.inf
        best, outside = scores.argmax(axis=1), far.sum(axis=1)
        rest = -gamma + scale * (np.log(np.maximum(outside, 1e-30)) +
                                 generator.gumbel(size=len(part)))
        for i in np.flatnonzero(rest > scores[np.arange(len(part)), best]):
            best[i] = generator.choice(np.flatnonzero(far[i]))
        return best

    spent, _ = seconds_of(lambda: [draw(words[i:i + batch]) for i in range(0, len(words), batch)])
    return {"words_per_s": len(words) / spent, "words": len(words)}


# ---------------------------------------------------------- tem's own package --

def tem_load(model, text, lines):
    import tem
    with open(text, encoding="utf-8", newline="\n") as file:
        STATE["tem"] = tem.Model.open(model), [line.rstrip("\n") for _, line in
                                               zip(range(lines), file)]


def tem_texts(epsilon, threads):
    """Seconds for all the lines in one call."""
    model, lines = STATE["tem"]
    return seconds_of(lambda: model.privatize(lines, epsilon=epsilon, threads=threads))[0]


def tem_python_threads(epsilon, threads):
    """The same with Python threads; each thread has its part of the lines."""
    model, lines = STATE["tem"]
    parts = [lines[i::threads] for i in range(threads)]
    with concurrent.futures.ThreadPoolExecutor(threads) as pool:
        return seconds_of(lambda: list(pool.map(
            lambda part: [model.privatize(line, epsilon=epsilon) for line in part], parts)))[0]


def tem_call(epsilon, calls):
    """Seconds per call for one word."""
    model, _ = STATE["tem"]
    return min(timeit.repeat(lambda: model.privatize("movie", epsilon=epsilon), number=calls,
                             repeat=3)) / calls


def tem_words(epsilon, words):
    """Seconds per word for known words, one call each, as with the other packages."""
    model, _ = STATE["tem"]
    return seconds_of(lambda: [model.privatize(word, epsilon=epsilon) for word in words])[0] / len(
        words)


# ------------------------------------------------------------ packages of others --

def package_load(package, text):
    """text: a GloVe text file without a header and without words that contain a space."""
    if package == "mldp-text":
        import gensim.models
        import mldp_text
        STATE["mldp"] = mldp_text, gensim.models.KeyedVectors.load_word2vec_format(text,
                                                                               no_header=True)
    else:
        from src.SamplingPerturbationMechanism.tem import TEM  # pypantera installs as `src`
        STATE["pantera"] = TEM, text
    STATE.pop("mechanism", None)


def package_mechanism(package, epsilon):
    if STATE.get("mechanism", (None,))[0] != (package, epsilon):
        if package == "mldp-text":
            library, vectors = STATE["mldp"]
            mechanism = library.TEM(epsilon, embedding_matrix=vectors)
            draw = mechanism.replace_word
        else:
            build, text = STATE["pantera"]
            mechanism = build({"embPath": text, "epsilon": epsilon, "beta": 0.001})
            def draw(word):
                return mechanism.processText([word])
        STATE["mechanism"] = (package, epsilon), draw
    return STATE["mechanism"][1]


def package_draw(package, epsilon, words):
    """Seconds per word for known words."""
    draw = package_mechanism(package, epsilon)
    spent, _ = seconds_of(lambda: [draw(word) for word in words])
    return spent / len(words)


def package_unknown(package, epsilon, times):
    """The share of unknown words that come out unchanged."""
    draw = package_mechanism(package, epsilon)
    return sum(draw(f"zqx{i}secret") == f"zqx{i}secret" for i in range(times)) / times


def near_pairs(rows, sample, pairs):
    """Finds the nearest different row of each of `sample` rows; returns the closest of these
    pairs."""
    chosen = np.random.default_rng(8).choice(len(rows), sample, replace=False)
    found = []
    for word in chosen:
        distances = ((rows - rows[word]) ** 2).sum(axis=1)
        distances[distances == 0] = np.inf
        found.append((math.sqrt(distances.min()), int(word), int(distances.argmin())))
    return sorted(found)[:pairs]


def realised_loss(files, epsilons, sample, pairs):
    """The true epsilon of TEM with the paper's score of the far words, ln |W \\ L|, and with
    mldp-text's score, ln(|W| / |L|): the largest |ln(P(y | w) / P(y | w'))| / d(w, w') over all y
    and the closest pairs (w, w') of a sample. This is a lower bound of the true epsilon."""
    rows = rows_of(files)
    n, worst = len(rows), {}

    def law(word, s, gamma, score):
        distances = np.sqrt(((rows - rows[word]) ** 2).sum(axis=1, dtype=np.float64))
        near = distances <= gamma
        weights = np.exp(-s * np.minimum(distances, gamma))
        if score == "mldp":
            weights[~near] *= n / near.sum() / max(1, n - near.sum())
        return np.log(weights / weights.sum())

    for distance, one, other in near_pairs(rows, sample, pairs):
        for epsilon in epsilons:
            s = float(epsilon) / 2
            gamma = {"paper": math.log(0.999 * (n - 1) / 0.001) / s,
                     "mldp": round(math.log(0.999 * n / 0.001) / s, 1)}  # as it computes it
            for score in gamma:
                loss = np.abs(law(one, s, gamma[score], score) -
                              law(other, s, gamma[score], score)).max() / distance
                by_score = worst.setdefault(epsilon, {})
                by_score[score] = max(by_score.get(score, 0.0), float(loss))
    return worst


# ------------------------------------------------ other mechanisms of these packages --

# Names and numbers as tem uses them by default. pypantera installs as `src`.
PANTERA = {"TEM": ("Sampling", "tem", {"beta": 0.001}), "SanText": ("Sampling", "santext", {}),
           "CusText": ("Sampling", "custext", {"k": 20, "distance": "euclidean"}),
           "CMP": ("Embedding", "cmp", {}),
           "Mahalanobis": ("Embedding", "mahalanobis", {"lam": 0.5}),
           "VickreyCMP": ("Embedding", "vickrey", {"t": 0.75})}
MLDP = {"TEM": {}, "MultivariateCalibrated": {}, "Mahalanobis": {"lambd": 0.5},
        "VickreyMechanism": {}, "TruncatedGumbel": {}}


class Other:
    """A mechanism of another package: draw(word), and forget() what it remembers of words."""

    def __init__(self, name, text, epsilon):
        self.package, self.kind = name.split()
        self.epsilon = epsilon
        self.made = self.of_pypantera(text) if self.package == "pypantera" else self.of_mldp(text)
        self.caches = [getattr(self.made, cache) for cache in
                       ("prob_matrix", "_simWordDict", "_pDict") if hasattr(self.made, cache)]

    def of_pypantera(self, text):
        family, module, numbers = PANTERA[self.kind]
        module = importlib.import_module(f"src.{family}PerturbationMechanism.{module}")
        made = getattr(module, self.kind)({"embPath": text, "epsilon": self.epsilon, **numbers})
        self.rows = made.embMatrix
        self.draw = (lambda word: made.processText([word])) if family == "Sampling" else (
            lambda word: made.processText(made.noisyEmb([word])))
        return made

    def of_mldp(self, text):
        import gensim.models
        import mldp_text
        vectors = gensim.models.KeyedVectors.load_word2vec_format(text, no_header=True)
        self.rows, numbers = vectors.vectors, dict(MLDP[self.kind])
        if self.kind == "TruncatedGumbel":  # by itself it takes both distances from one random word
            numbers.update(min_inter_dist=least_distance(self.rows),
                           max_inter_dist=2 * float(np.linalg.norm(self.rows, axis=1).max()))
        made = getattr(mldp_text, self.kind)(self.epsilon, embedding_matrix=vectors,
                                             dim=self.rows.shape[1], **numbers)
        self.draw = made.replace_word
        return made

    def forget(self):
        for cache in self.caches:
            cache.clear()

    def noise(self):
        """One noise vector as the package draws it, or None."""
        columns = self.rows.shape[1]
        if self.kind == "VickreyMechanism":
            from mldp_text.utils import euclidean_laplace_rand_fn
            return euclidean_laplace_rand_fn(columns, self.epsilon)
        if self.package == "pypantera" and self.kind in ("CMP", "Mahalanobis", "VickreyCMP"):
            return self.made.pullNoise()
        if hasattr(self.made, "get_perturbed_vector"):
            return self.made.get_perturbed_vector(np.zeros(columns), columns)[1]
        return None


def least_distance(rows):
    import faiss
    index = faiss.IndexFlatL2(rows.shape[1])
    index.add(rows)
    return float(np.sqrt(index.search(rows, 2)[0][:, 1].min()))


def other(name, text, epsilon):
    """The mechanism of that name, made once; two are kept, since they are measured in turn."""
    kept = STATE.setdefault("others", {})
    if (name, epsilon) not in kept:
        if len(kept) > 1:
            del kept[next(iter(kept))]
        kept[name, epsilon] = Other(name, text, epsilon)
    return kept[name, epsilon]


def draw_for(draw, words, seconds):
    """Words per second over the first words, as many as fit; and how many these are."""
    start, done = time.perf_counter(), 0
    for word in words:
        draw(word)
        done += 1
        if time.perf_counter() - start > seconds:
            break
    return done / (time.perf_counter() - start), done


def other_draw(name, text, epsilon, words, seconds):
    """Words that the mechanism has not seen; where it remembers words, the same again."""
    mechanism = other(name, text, epsilon)
    mechanism.forget()
    rate, done = draw_for(mechanism.draw, words, seconds)
    if not mechanism.caches:
        return {"per_s": rate, "words": done}
    return {"per_s": rate, "words": done,
            "again_per_s": draw_for(mechanism.draw, words[:done] * 100, seconds / 4)[0]}


def other_unknown(name, text, epsilon, times):
    """The share of unknown words that come out unchanged."""
    draw = other(name, text, epsilon).draw
    return sum(draw(f"zqx{i}secret") == f"zqx{i}secret" for i in range(times)) / times


def uneven_text(path):
    """Vectors of which each column has twice the variance of the one before, and another mean. On
    them noise shows whether it follows the covariance as it must. The columns of the default model
    vary too much alike for that."""
    scales = np.sqrt(2.0 ** np.arange(16))
    values = scales * (np.random.default_rng(11).standard_normal((400, 16)) + 1)
    with open(path, "w", encoding="utf-8") as file:
        for i, row in enumerate(values):
            file.write(f"w{i} " + " ".join(f"{value:.6g}" for value in row) + "\n")
    return path


def other_checks(name, text, epsilon, count):
    """What is seen of an implementation: its noise, its nearest words, its sets."""
    mechanism, seen = other(name, text, epsilon), {}
    if mechanism.kind == "Mahalanobis":
        uneven = Other(name, uneven_text(text + ".uneven"), epsilon)
        return check_radius(uneven, np.array([uneven.noise() for _ in range(4 * count)]))
    noise = [mechanism.noise() for _ in range(count)]
    if noise[0] is not None:
        seen.update(check_radius(mechanism, np.array(noise)))
        seen.update(check_nearest(mechanism, np.array(noise[:100])))
    if mechanism.kind == "CusText":
        seen["other_sets"] = check_sets(mechanism, 1 + count // 200)
    if mechanism.kind in ("TruncatedGumbel", "VickreyMechanism"):
        seen["squares"] = check_squares(mechanism)
    if mechanism.kind == "TruncatedGumbel":
        seen["alone"] = check_alone(mechanism)
    return seen


def check_radius(mechanism, noise):
    """Kolmogorov and Smirnov's distance of the noise's length from Gamma(columns, 1/epsilon): the
    Euclidean length, or that of the regularized Mahalanobis norm. trace: the trace of the scaled
    covariance, which must be the number of columns."""
    import scipy.stats
    made, columns, seen = mechanism.made, noise.shape[1], {}
    lengths = np.linalg.norm(noise, axis=1)
    if mechanism.kind == "Mahalanobis":
        if mechanism.package == "pypantera":
            shape = made._sigmaLoc @ made._sigmaLoc
        else:
            shape = made.lambd * made.cov_mat + (1 - made.lambd) * made.identity_mat
            seen["trace"] = float(np.trace(made.cov_mat) / columns)
        lengths = np.sqrt(np.einsum("ij,jk,ik->i", noise, np.linalg.inv(shape), noise))
    test = scipy.stats.kstest(lengths, "gamma", args=(columns, 0, 1 / mechanism.epsilon))
    return {**seen, "ks": float(test.statistic), "ks_p": float(test.pvalue)}


def check_nearest(mechanism, noise):
    """Of noisy vectors of the first words: how often the package's nearest word is not the nearest,
    and how often its two nearest words are in the wrong order."""
    rows, seen = mechanism.rows, {}
    noisy = (rows[:len(noise)] + noise).astype(np.float32)
    distances = [np.linalg.norm(rows - vector, axis=1) for vector in noisy]
    if hasattr(mechanism.made, "index"):
        found = mechanism.made.index.search(noisy, 1)[1][:, 0]
        seen["not_nearest"] = float(np.mean([d[i] > 1.00001 * d.min()
                                             for d, i in zip(distances, found)]))
    if mechanism.kind == "VickreyCMP":  # in the way of vickrey.py
        all_of = [mechanism.made.euclideanDistance([row + z], rows)
                  for row, z in zip(rows, noise)]
        two = [np.argpartition(d, 2, axis=1)[0, :2] for d in all_of]
        seen["exchanged"] = float(np.mean([d[0, a] > d[0, b] for d, (a, b) in zip(all_of, two)]))
    return seen


def check_squares(mechanism):
    """Whether the distances that the package goes on with are squares."""
    rows = mechanism.rows
    given, found = mechanism.made.index.search(rows[:1], 8)
    true = np.linalg.norm(rows[found[0]] - rows[0], axis=1)
    return bool(np.allclose(given[0], true ** 2, rtol=1e-3, atol=1e-3))


def check_alone(mechanism):
    """What happens if nobody gives the package the least and the largest distance."""
    try:
        type(mechanism.made)(mechanism.epsilon, embedding_matrix=mechanism.made.embedding_matrix,
                             dim=mechanism.rows.shape[1])
    except Exception as fault:  # the page prints it
        return f"{type(fault).__name__}: {fault}"
    return "works"


def check_sets(mechanism, words):
    """The share of members of a word's set whose own set is another one."""
    sets = mechanism.made._simWordDict
    names = list(mechanism.made._word2index)[:words]
    different = []
    for word in names:
        mechanism.draw(word)
        for member in sets[word]:
            mechanism.draw(member)
            different.append(set(sets[member]) != set(sets[word]))
    return float(np.mean(different))


# --------------------------------------------------------------------- asking --

QUESTIONS = {f.__name__: f for f in (
    hello, make_set, make_noisy, faiss_load, faiss_tune, faiss_search, compare_lists, sgemm,
    madlib_noise, madlib_search, numpy_tem, package_load, package_draw, package_unknown,
    realised_loss, tem_load, tem_texts, tem_python_threads, tem_call, tem_words, other_draw,
    other_unknown, other_checks)}


def main():
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        question = json.loads(line)
        try:
            answer = {"answer": QUESTIONS[question.pop("question")](**question)}
        except Exception as fault:  # the caller decides
            answer = {"error": f"{type(fault).__name__}: {fault}"}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
