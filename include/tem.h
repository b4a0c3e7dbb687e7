/* tem.h - the public interface of libtem, and its specification.
 *
 * tem replaces each word by a word that it draws at random. The draw has a proved guarantee:
 * word-level metric differential privacy, by the Truncated Exponential Mechanism
 * (TEM; Carvalho, Vasiloudis, Feyisetan 2021). tem computes with integers from the model file to
 * the drawn word, so the proof covers exactly the law by which the program draws.
 *
 *   tem_model *model = NULL;
 *   tem_mechanism *mechanism = NULL;
 *   tem_rng *rng = NULL;
 *   tem_error error;
 *   uint32_t out = 0;
 *   const tem_mechanism_options options = {.epsilon = 3};
 *   if (tem_model_open("default.tem", &model, &error) == TEM_OK &&
 *       tem_model_trust(model, NULL, NULL, &error) == TEM_OK &&
 *       tem_mechanism_create(model, &options, &mechanism, &error) == TEM_OK &&
 *       tem_rng_create(&rng, &error) == TEM_OK &&
 *       tem_mechanism_draw(mechanism, rng, tem_model_find(model, "movie", 5), &out,
 *                          &error) == TEM_OK)
 *       printf("word number %u\n", out);
 *   else
 *       fprintf(stderr, "%s\n", error.message);
 *   tem_rng_free(rng);
 *   tem_mechanism_free(mechanism);
 *   tem_model_free(model);
 *
 * Rules that hold for every function:
 *  - A function that can fail returns a tem_status; TEM_OK is 0. When it fails, its outputs are
 *    untouched and *error says why. `error` may be NULL.
 *  - NULL: the comment of a function names the arguments that may be NULL. An array may be NULL if
 *    its count is 0. For any other NULL the function returns TEM_ERR_ARGUMENT. A function without a
 *    status returns an empty result instead: 0, NULL, NaN, "unknown", TEM_NO_WORD, a distance of
 *    UINT32_MAX, or an info of zeros in which the cost of a word is infinite.
 *    tem_job_why_not_private then says that nothing is known.
 *  - Objects are opaque. An object that a call returns through a `tem_x **` belongs to the caller,
 *    who frees it with tem_x_free. tem_x_free(NULL) does nothing.
 *  - Structs can grow. A struct that the caller allocates ends in fields called `reserved`. In
 *    options they must be 0: start with {0} or with designated initializers. A call refuses other
 *    values with TEM_ERR_ARGUMENT, because they stand for an option of a newer tem. In results the
 *    library sets them to 0. In a field of options 0 or NULL means the default, unless the field's
 *    comment says otherwise.
 *  - Enums can grow: a newer library may return values that this header does not name.
 *  - Messages count words, lines, bytes and records from 1. Arguments and results count from 0: the
 *    ids of words, the indices of lists.
 *  - A tem_model, tem_vectors, tem_mechanism or tem_law does not change once it is made. (Whether a
 *    model is trusted may change, atomically.) Any number of threads may use one at the same time,
 *    without locks. A tem_rng belongs to one thread at a time. One thread frees an object, when no
 *    other thread uses it.
 *  - Words are bytes, valid UTF-8, without NUL, tab or line end. Calls that take words neither fold
 *    nor normalize them. Lengths are in bytes.
 *  - Distances are integers: a tem_dist counts steps of 2^-16.
 *  - The library never prints, with one exception: if the kernel gives no random bytes, it writes
 *    one line to stderr before it ends the program (tem_rng_create). It opens only the files that
 *    it is given, a temporary file beside a file that it writes, the directory of that file, and
 *    the files that tem_trust_* name.
 *  - A progress callback can stop every call that takes a tem_run. The call asks it several times a
 *    second, whether it works or waits for a pipe, a lock or a slow reader.
 */
#ifndef TEM_H
#define TEM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define TEM_API __attribute__((visibility("default")))
#else
#define TEM_API
#endif

/* The version of this header. TEM_VERSION_NUMBER is major * 1000000 + minor * 1000 + patch. */
#define TEM_VERSION "0.1.0"
#define TEM_VERSION_MAJOR 0
#define TEM_VERSION_MINOR 1
#define TEM_VERSION_PATCH 0
#define TEM_VERSION_NUMBER                                                                         \
    (TEM_VERSION_MAJOR * 1000000u + TEM_VERSION_MINOR * 1000u + TEM_VERSION_PATCH)

/* The version of the library that is loaded, as "major.minor.patch" and as a number like
 * TEM_VERSION_NUMBER. Static string. Any thread, any time. */
TEM_API const char *tem_version(void);
TEM_API uint32_t tem_version_number(void);

/* Whether the loaded library can serve a program that was compiled with the header of version
 * `header`: 1 or 0. The library can if it is not older than the header and has the same major
 * number; before 1.0.0 the minor number must be the same, too. tem_version_check() asks for the
 * version of this header. Any thread. */
TEM_API int tem_version_is_compatible(uint32_t header);
#define tem_version_check() tem_version_is_compatible(TEM_VERSION_NUMBER)

/* ------------------------------------------------------------- outcomes -- */

typedef enum tem_status {
    TEM_OK = 0,
    TEM_ERR_ARGUMENT = 1,     /* the call itself is wrong: NULL, out of range */
    TEM_ERR_MEMORY = 2,       /* an allocation failed */
    TEM_ERR_FILE = 3,         /* the system refused to open, read, map or write */
    TEM_ERR_EXISTS = 4,       /* the file to write exists already */
    TEM_ERR_FORMAT = 5,       /* a file's content is not what was expected */
    TEM_ERR_VERSION = 6,      /* a file of a newer or older format */
    TEM_ERR_DAMAGED = 7,      /* a model file, ledger or certificate that contradicts itself */
    TEM_ERR_RANGE = 8,        /* a value that tem cannot store or reach, such as one too large
                               * for the grid */
    TEM_ERR_METRIC = 9,       /* the distances are no metric */
    TEM_ERR_UNSUPPORTED = 10, /* this machine, model or mechanism cannot do it */
    TEM_ERR_CANCELLED = 11,   /* a callback asked to stop */
    TEM_ERR_BUDGET = 12,      /* the budget does not suffice */
    TEM_ERR_CERTIFICATE = 13, /* no certificate, or one that does not hold */
    TEM_ERR_UNTRUSTED = 14    /* a model that this user has neither built nor verified; or the
                               * user's list of trusted hashes does not belong to the user alone */
} tem_status;

/* What went wrong, in the caller's memory. `message` says what was expected and what was found. It
 * never contains a word of a text or of a vocabulary. */
typedef struct tem_error {
    tem_status status;
    int os_error;         /* errno of the call that failed, or 0 */
    uint64_t line;        /* line, row or document, counted from 1; 0: none */
    uint64_t byte;        /* byte of the file or text, counted from 1; 0: none */
    char file[256];       /* the file, as the caller named it, cut if longer; or "" */
    char message[256];    /* one sentence without its final period */
    uint64_t reserved[4]; /* 0 */
} tem_error;

/* The name of a status, such as "format": a static string, "unknown" for an invalid value; and the
 * status of a name, TEM_ERR_ARGUMENT for other names. Any thread. */
TEM_API const char *tem_status_name(tem_status status);
TEM_API tem_status tem_status_parse(const char *name, tem_status *status, tem_error *error);

/* --------------------------------------------------------- long calls -- */

/* Progress callback of a long call.
 *   stage         what the call is doing, a static string such as "reading"
 *   done, total   progress in units of the stage, done <= total; total is 0 if it is not known
 * The callback must be quick: tem may call it thousands of times per second, and calls it several
 * times per second even if nothing moves. tem calls it only from the thread that made the long
 * call. If the callback returns non-zero, the long call stops and fails with TEM_ERR_CANCELLED. */
typedef int tem_progress_fn(void *context, const char *stage, uint64_t done, uint64_t total);

/* Names a document on which one thread has worked for more than 10 s: the one that takes longest.
 *   document   its number, from 1, in its file, or among the texts of the call
 *   file       the file, "standard input", or NULL: a text of the caller
 *   seconds    how long so far
 * Never the text. tem calls it just before the progress callback, from the same thread and with the
 * same context, as long as the thread works on the document. */
typedef void tem_slow_document_fn(void *context, uint64_t document, const char *file,
                                  double seconds);

/* How a long call runs. Wherever a call takes a tem_run, NULL means all defaults. */
typedef struct tem_run {
    unsigned threads;          /* at most this many; 0: one per CPU */
    tem_progress_fn *progress; /* or NULL */
    void *progress_context;
    tem_slow_document_fn *slow_document; /* or NULL */
    uint64_t reserved[3];                /* must be 0 */
} tem_run;

/* -------------------------------------------------------------- metrics -- */

/* Steps of 2^-16. The distance of two words is computed exactly from the vectors as they are
 * stored, and rounded up. The rounded distance is a metric, too. */
typedef uint32_t tem_dist;
#define TEM_DIST_ONE 65536u

typedef enum tem_metric {
    TEM_EUCLIDEAN = 1, /* exact integers, rounded up once */
    TEM_ANGULAR = 2,   /* the angle in radians, plus one step between unequal vectors */
    TEM_L1 = 3,        /* sum of absolute differences, exact */
    TEM_LINF = 4,      /* largest absolute difference, exact */
    TEM_MATRIX = 5,    /* distances that the user gave for each pair */
    TEM_HYPERBOLIC = 6 /* vectors are points of the Poincare ball: all shorter than 1; rounded up,
                        * plus one step between unequal points */
} tem_metric;

/* The metric called `name`: "euclidean", "angular", "l1", "linf" or "hyperbolic". Fails with
 * TEM_ERR_METRIC for "cosine" (1 - cosine breaks the triangle inequality, so no
 * guarantee can rest on it) and TEM_ERR_ARGUMENT for other names. Any thread. */
TEM_API tem_status tem_metric_parse(const char *name, tem_metric *metric, tem_error *error);

/* The name of a metric; static string, "unknown" for an invalid value. */
TEM_API const char *tem_metric_name(tem_metric metric);

/* The name of the i-th metric, from 0; NULL beyond the last. Unless they are NULL, *metric receives
 * its number and *meaning one line that says what it measures. Static strings. Any thread. */
TEM_API const char *tem_metric_at(unsigned i, tem_metric *metric, const char **meaning);

/* -------------------------------------------------------------- vectors -- */

/* Words with one vector each, read from a file or given by the caller. */
typedef struct tem_vectors tem_vectors;

#define TEM_DIMENSION_MAX 4096u
#define TEM_WORDS_MAX 0x7fffffffu
#define TEM_WORD_BYTES_MAX 4096u

/* Reads an embedding file: GloVe text, word2vec text or binary, fastText .vec, or tem's own .temv
 * (docs/FORMAT.md), plain or gzip. Recognizes the format by the content.
 *   path       the file; "-" is standard input
 *   limit      read only the first `limit` words; 0: all
 *   run        threads and progress; NULL: defaults
 *   vectors    receives the object; free with tem_vectors_free
 * Fails with TEM_ERR_ARGUMENT (a limit of 1), TEM_ERR_FILE, TEM_ERR_MEMORY, TEM_ERR_CANCELLED, or
 * TEM_ERR_FORMAT with the line (text) or byte (binary) for
 *  - an empty file, or a file cut short;
 *  - a row with the wrong number of columns;
 *  - an invalid number, NaN or infinity;
 *  - a word that is empty, longer than TEM_WORD_BYTES_MAX, not UTF-8, or equal to an earlier word;
 *  - fewer or more rows than the header says;
 *  - words of more than 4 GiB together.
 * Memory: 4 bytes per value. While it reads from a pipe or unpacks, also the whole text, even with
 * a limit: a small gzip file may unpack to a large text. A plain file is mapped. */
TEM_API tem_status tem_vectors_load(const char *path, uint64_t limit, const tem_run *run,
                                    tem_vectors **vectors, tem_error *error);

/* Makes vectors from memory. Copies everything.
 *   words      `count` strings, NUL-terminated, all different
 *   values     count * dimension finite numbers, row by row
 *   count      2 to TEM_WORDS_MAX
 *   dimension  1 to TEM_DIMENSION_MAX
 *   vectors    receives the object; free with tem_vectors_free
 * Fails with TEM_ERR_ARGUMENT, TEM_ERR_MEMORY, or TEM_ERR_FORMAT with `line` = row + 1 for a word
 * or number that tem_vectors_load would refuse. */
TEM_API tem_status tem_vectors_create(const char *const *words, const float *values, uint32_t count,
                                      uint32_t dimension, tem_vectors **vectors, tem_error *error);

/* The number of words, the numbers per word, and the format of the file, a static string such as
 * "GloVe text". Any thread. */
TEM_API uint32_t tem_vectors_count(const tem_vectors *vectors);
TEM_API uint32_t tem_vectors_dimension(const tem_vectors *vectors);
TEM_API const char *tem_vectors_format(const tem_vectors *vectors);

/* What tem_vectors_fold has done. */
typedef struct tem_folding {
    uint32_t changed;     /* words that folding changed */
    uint32_t left_out;    /* words that an earlier word equals after folding */
    uint64_t reserved[2]; /* 0 */
} tem_folding;

/* Folds the words of vectors as tem folds text: to NFC and to one case ("Paris" becomes "paris",
 * "ß" becomes "ss", a final "ς" becomes "σ"). A text can contain no other words. Of words that
 * become the same, the first one stays: in most files that is the most frequent one. A word that
 * folding would empty, or make longer than TEM_WORD_BYTES_MAX, stays as it is.
 *   done       receives what was done; or NULL
 * Fails with TEM_ERR_ARGUMENT, TEM_ERR_UNSUPPORTED (vectors on the grid, .temv), TEM_ERR_FORMAT
 * (only one word is left), TEM_ERR_MEMORY; then the vectors are as they were. One thread at a
 * time. */
TEM_API tem_status tem_vectors_fold(tem_vectors *vectors, tem_folding *done, tem_error *error);

/* Folds one word in the same way, such as a word to exclude from folded vectors.
 *   word      `bytes` bytes; need not end in NUL
 *   folded    receives the word, NUL-terminated; free with tem_text_free
 * Fails with TEM_ERR_ARGUMENT, TEM_ERR_FORMAT (not UTF-8), TEM_ERR_MEMORY. Any thread. */
TEM_API tem_status tem_word_fold(const char *word, size_t bytes, char **folded, tem_error *error);

TEM_API void tem_vectors_free(tem_vectors *vectors);

/* --------------------------------------------------------------- models -- */

/* A vocabulary, its distances and its index: everything that the mechanisms draw from. All of it is
 * public. */
typedef struct tem_model tem_model;

#define TEM_NEIGHBOURS_DEFAULT 256u
#define TEM_MATRIX_WORDS_MAX 32768u
#define TEM_NO_WORD UINT32_MAX

/* What tem does with vectors before it rounds them to the grid. The metric that is protected is
 * that of the prepared vectors on the grid. */
typedef enum tem_space {
    TEM_SPACE_DEFAULT = 0, /* sphere for TEM_EUCLIDEAN, from 1,000 words and 50 columns on, or
                            * if `dimensions` or `remove` is given; else raw. Vectors on the grid
                            * (.temv) are taken as they are */
    TEM_SPACE_RAW = 1,     /* takes the vectors as they are */
    TEM_SPACE_SPHERE = 2   /* TEM_EUCLIDEAN only, in this order:
                            *  - scales each vector to length 1 and subtracts the mean;
                            *  - finds the components: the eigenvectors of the mean of x x', largest
                            *    variance first, the largest number of each made positive;
                            *  - leaves out the first `remove` of them, keeps the next `dimensions`;
                            *  - scales each vector to length 1;
                            *  - multiplies all by one number, so that the root mean square distance
                            *    of two words is that of the vectors given.
                            * So no word is far from all others, and an epsilon keeps its order of
                            * size. Words may coincide: their distance is 0 */
} tem_space;

/* "raw", "sphere", and "default" for TEM_SPACE_DEFAULT; "unknown" for other numbers. */
TEM_API const char *tem_space_name(tem_space kind);

/* The space with this name: "raw" or "sphere". Fails with TEM_ERR_ARGUMENT. */
TEM_API tem_status tem_space_parse(const char *name, tem_space *kind, tem_error *error);

#define TEM_SPHERE_DIMENSIONS_DEFAULT 50u

/* How to order all outputs around each word, for the mechanism `rank` (docs/RANK.md). A field of 0
 * or NULL: the default.
 *   list      how many words have ranks of their own before all others: 1 to 384, default 128
 *   block     words in a block of the others: default 16, more where there would be more than 4,096
 *             blocks
 *   group     the most near words that share one order of the blocks: default 12, and 32 for
 *             vocabularies above 65,536 words
 *   vectors   what decides which words are near. They must have every word of the model. Default:
 *             the vectors that the model is built from, with all their columns; up to 1,024 words
 *             the distances of the model
 * Without vectors of their own, models of other metrics than the euclidean and the angular one are
 * ordered by their distances: up to 4,096 outputs, else TEM_ERR_UNSUPPORTED. */
typedef struct tem_order_options {
    uint32_t list, block, group;
    const tem_vectors *vectors;
    uint64_t reserved[4]; /* must be 0 */
} tem_order_options;

/* What to build. NULL, or a field of 0, means the default. */
typedef struct tem_build_options {
    tem_metric metric;   /* default TEM_EUCLIDEAN; TEM_MATRIX has its own call */
    uint32_t neighbours; /* length of each word's list, the word itself included; default
                          * TEM_NEIGHBOURS_DEFAULT; more than the number of words: all words. The
                          * first 64th of the words get lists 16 times as long: in most files
                          * these are the frequent words */
    int allow_coarse;    /* 1: build even if rounding changes distances by more than
                          * TEM_GRID_REFUSED_PERCENT (tem_model_check_grid) */
    tem_space space;     /* default TEM_SPACE_DEFAULT */
    uint32_t dimensions; /* sphere: components kept; 0: TEM_SPHERE_DIMENSIONS_DEFAULT, or all that
                          * the vectors have, if these are fewer */
    uint32_t remove;     /* sphere: components left out first; default 0 */
    int drop_degenerate; /* sphere, 1: leave out words whose vector is zero, or is shorter after
                          * the projection than 1e-6 of the median. 0: refuse them */
    uint32_t exclude_count;     /* number of words in `exclude`; 0: exclude nothing */
    const char *const *exclude; /* words that are never outputs, as the vocabulary has them; words
                                 * that it does not have are ignored (tem_model_is_excluded) */
    const tem_order_options *order; /* the order of the words, for the mechanism `rank`; NULL: the
                                     * model gets none */
    uint64_t reserved[4];           /* must be 0 */
} tem_build_options;

/* Builds a model: prepares the vectors (tem_space), rounds them to the grid and finds every word's
 * nearest words exactly, ordered by (distance, id), ties included. The result does not depend on
 * the number of threads. A raw space does not depend on the machine either. The components of a
 * sphere come from OpenBLAS, which may give other last bits on other machines: who ships
 * certificates ships their model, or its prepared vectors (.temv).
 * The grid: int16 within +-16383 in steps of 2^-q, with the largest q from 4 to 30 that fits. For
 * TEM_ANGULAR tem first scales each vector to length 1.
 * Fails with TEM_ERR_ARGUMENT (also if the vocabulary has none of the words to exclude, or if none
 * of its words is left), TEM_ERR_MEMORY, TEM_ERR_CANCELLED, or TEM_ERR_RANGE for
 *  - values too large for the grid;
 *  - vectors so long that two of them could be 2^16 apart;
 *  - a zero vector under TEM_ANGULAR;
 *  - a sphere that the vectors do not have: more components than their rank, words that are
 *    degenerate (unless drop_degenerate; `file` and `line` name the first one if it comes from a
 *    text file), fewer than two words left;
 *  - a grid too coarse for the distances of the words (tem_model_check_grid), unless allow_coarse.
 * TEM_ERR_UNSUPPORTED: a sphere needs OpenBLAS, libopenblas.so.0, and the machine has none.
 * Cost: n^2/2 distances; memory about n * (row + 15 * neighbors) bytes. A sphere
 * of vectors of d numbers takes about n * d^2 + 10 * d^3 operations and n * (4 * dimensions + 100)
 * bytes. The d^3 are one call of LAPACK, which no callback can stop. */
TEM_API tem_status tem_model_build(const tem_vectors *vectors, const tem_build_options *options,
                                   const tem_run *run, tem_model **model, tem_error *error);

/* The caller's distance between words[a] and words[b], for a != b (tem_model_build_function). It
 * must be finite, >= 0, and within 2^-16/3 of a true metric. It may be 0 only if two words are the
 * same point; their distances to every other word must then be the same numbers. */
typedef double tem_distance_fn(void *context, uint32_t a, uint32_t b);

/* Builds a model over the caller's own metric. Asks for each pair once in each order, from the
 * calling thread, and stores the distance as an integer: rounded up, plus one step if it is not 0.
 * The finished model no longer needs the function.
 *   words, count   as in tem_vectors_create; count <= TEM_MATRIX_WORDS_MAX
 *   distance       the function
 *   context        passed to the function; may be NULL
 *   neighbours     as in tem_build_options; 0: the default
 * The guarantee holds only if the function is a metric. This call checks three things. All pairs
 * must be symmetric. Words at distance 0 must have the same distances to all others. The triangle
 * inequality must hold: for all triples up to 400 words, and for four million triples beyond. The
 * four million are evidence, not proof, and tem_model_info says so.
 * Fails with TEM_ERR_METRIC (asymmetric, or a broken triangle), TEM_ERR_RANGE (negative, not
 * finite, 65535 or more), or as tem_model_build does. */
TEM_API tem_status tem_model_build_function(const char *const *words, uint32_t count,
                                            tem_distance_fn *distance, void *context,
                                            uint32_t neighbours, const tem_run *run,
                                            tem_model **model, tem_error *error);

/* Builds a model in the same way from a full matrix, distances[a * count + b]. The diagonal must be
 * 0, else the call fails with TEM_ERR_METRIC. */
TEM_API tem_status tem_model_build_matrix(const char *const *words, uint32_t count,
                                          const double *distances, uint32_t neighbours,
                                          const tem_run *run, tem_model **model, tem_error *error);

typedef enum tem_overwrite { TEM_KEEP_EXISTING = 0, TEM_OVERWRITE = 1 } tem_overwrite;

/* Writes the model to `path`: into a temporary file beside it, which tem flushes to the disk and
 * then renames. Whatever happens, `path` is the old file, or does not exist, or is the whole new
 * file. (It can be the whole new file after a failure, if only flushing the directory failed.) A
 * file that is overwritten keeps its permissions. With TEM_KEEP_EXISTING the call fails with
 * TEM_ERR_EXISTS if the file exists. Fails with TEM_ERR_FILE, TEM_ERR_MEMORY, TEM_ERR_CANCELLED. */
TEM_API tem_status tem_model_save(const tem_model *model, const char *path, tem_overwrite overwrite,
                                  const tem_run *run, tem_error *error);

/* Maps a model file for reading. tem does not trust the file: this call checks its header and
 * section table, and the first use of a list checks that list. So no file can make the library read
 * memory outside that file. This call does NOT check the hashes: tem_model_check does. The caller
 * can look at the model, but tem_mechanism_create and tem_accountant_create refuse it until it is
 * trusted (tem_model_trust). Nobody may change the file in place while it is open; replacing it, as
 * tem_model_save does, is safe.
 * Fails with TEM_ERR_FILE, TEM_ERR_MEMORY, TEM_ERR_FORMAT (not a model), TEM_ERR_VERSION,
 * TEM_ERR_DAMAGED. Cost: milliseconds, whatever the size. */
TEM_API tem_status tem_model_open(const char *path, tem_model **model, tem_error *error);

/* Finds the file to open when the user names no model. $TEM_MODEL names this file, whether the file
 * exists or not. If $TEM_MODEL is unset or empty, the call looks in each of `folders` for
 * default.tem and then for ../share/tem/default.tem, and takes the first that exists.
 *   folders            `count` directories, such as that of the program
 *   path, path_bytes   receives the name, NUL-terminated
 *   is_own             receives 1 if the file was found in one of the directories: nobody named it,
 *                      it came with the program, and so did the certificates beside it
 *                      (tem_model_trust_own); 0 if $TEM_MODEL names it
 * Fails with TEM_ERR_FILE (no such file), TEM_ERR_RANGE (the name is too long) or
 * TEM_ERR_ARGUMENT. */
TEM_API tem_status tem_model_find_default(const char *const *folders, size_t count, char *path,
                                          size_t path_bytes, int *is_own, tem_error *error);

/* Checks an open model for damage: compares every section with its hash and the bytes between the
 * sections with zero, and checks that every word is UTF-8 without NUL, tab or line end. A model
 * that was built in this process passes. Fails with TEM_ERR_DAMAGED, naming the section;
 * TEM_ERR_CANCELLED. Cost: reads the whole file, about 1 GB/s per CPU. */
TEM_API tem_status tem_model_check(const tem_model *model, const tem_run *run, tem_error *error);

/* Verifies a model: does tem_model_check, and then recomputes everything that the file's vectors or
 * matrix determine: the word table, every distance of every list, and every list and bound against
 * all pairs of words. It cannot verify `deviation`, which compares these vectors with the original
 * ones: the file does not have the original vectors, so `deviation` is only the builder's claim.
 * A model that passes is trusted in this process from then on; a model that fails is not.
 * tem_trust_verify does the same for the user, permanently.
 * Fails with TEM_ERR_DAMAGED, TEM_ERR_MEMORY, TEM_ERR_CANCELLED. Cost: as tem_model_build. */
TEM_API tem_status tem_model_verify(tem_model *model, const tem_run *run, tem_error *error);

/* Trust. The lists and bounds of a model decide what tem draws. Whether a matrix is a metric
 * decides what tem can prove. Whoever can write a file can make these up, and write hashes that
 * fit. So tem_mechanism_create and tem_accountant_create take a model only if it is trusted:
 *  - it was built in this process;
 *  - or tem_model_verify has recomputed it in this process;
 *  - or tem_model_trust has found its hash in the user's list, or the caller has named its hash;
 *  - or the caller has said that it came with the program (tem_model_trust_own).
 * Any thread may call these. */

/* Whether the model is trusted: 1 or 0. */
TEM_API int tem_model_is_trusted(const tem_model *model);

/* Trusts an open model if somebody has vouched for its content. Calls tem_model_check first, so the
 * hash that counts is the hash of the bytes in memory. A model that is trusted already stays
 * trusted at no cost, unless the caller names a hash.
 *   hash     64 digits, as tem_model_hash has them: trust the model with this hash and no other.
 *            Take the hash from somebody who has built or verified the model, not from the file.
 *            NULL: trust a model that this user has built or verified (tem_trust_has)
 * Fails with TEM_ERR_UNTRUSTED (another hash; not in the list; or as tem_trust_has does),
 * TEM_ERR_DAMAGED, TEM_ERR_ARGUMENT (an invalid hash; a hash for a model that is not from a file),
 * TEM_ERR_FILE, TEM_ERR_MEMORY, TEM_ERR_CANCELLED. Cost: that of tem_model_check. */
TEM_API tem_status tem_model_trust(tem_model *model, const char *hash, const tem_run *run,
                                   tem_error *error);

/* Trusts a model because of its place: tem_model_find_default found it beside the program (is_own).
 * Compares nothing with the hashes; tem_model_check does. Tells tem_certificate_trust that the
 * certificates beside the model came with the program, too. */
TEM_API void tem_model_trust_own(tem_model *model);

/* Decides whether to trust a model that a program has opened for its user:
 *  - if the user names a hash, tem trusts the model with this hash and no other (tem_model_trust);
 *  - else, if the model came with the program, tem compares it with its hashes and trusts it
 *    (tem_model_check, tem_model_trust_own);
 *  - else the user must have built or verified it (tem_model_trust).
 *   hash     as in tem_model_trust; NULL: the user names none
 *   is_own   what tem_model_find_default says; 0 if the user names the file
 * Fails as tem_model_trust does. If nobody vouches for the model, the call fails with
 * TEM_ERR_UNTRUSTED and the file of the model; the program should then say how to verify it. */
TEM_API tem_status tem_model_accept(tem_model *model, const char *hash, int is_own,
                                    const tem_run *run, tem_error *error);

/* The hash of a model, computed from all its content in memory: the hash of its file, or of the
 * file that tem_model_save would write. Whoever has built the model gives this hash to
 * tem_trust_add.
 *   hash     receives 64 digits and a NUL
 * Fails with TEM_ERR_ARGUMENT, TEM_ERR_CANCELLED, TEM_ERR_RANGE (too large for a file). Cost:
 * about 1 GB/s per CPU. */
TEM_API tem_status tem_model_hash(const tem_model *model, const tem_run *run, char hash[65],
                                  tem_error *error);

TEM_API void tem_model_free(tem_model *model);

typedef struct tem_model_info {
    uint32_t words;     /* n */
    uint32_t dimension; /* 0 under TEM_MATRIX */
    tem_metric metric;
    uint32_t step_log2;       /* q: vectors are stored in steps of 2^-q */
    uint32_t neighbours;      /* length of the lists, as in tem_build_options */
    tem_dist deviation;       /* no distance differs by more than this from that of the original
                               * vectors; of the prepared ones, if the space is no raw one */
    uint64_t triangles;       /* TEM_MATRIX: triples that the builder checked, as the file says;
                               * else 0 */
    int triangles_exhaustive; /* TEM_MATRIX: 1 if these are all triples. It proves nothing: a
                               * tem_accountant checks again */
    uint64_t file_bytes;      /* 0 for a model that was not opened from a file */
    char hash[65];            /* of all content of the file, in hex, as the file says; "" if the
                               * model is not from a file */
    uint64_t excluded;        /* number of words that are never outputs */
    uint64_t reserved[7];     /* 0 */
} tem_model_info;

/* Fills *info. Any thread. */
TEM_API void tem_model_get_info(const tem_model *model, tem_model_info *info);

/* How the vectors of a model were prepared. No guarantee depends on it: the grid has the
 * distances. For a model from a file it is what the file says. */
typedef struct tem_recipe {
    tem_space space;      /* TEM_SPACE_RAW: all other fields are 0 */
    uint32_t given_words; /* words and columns of the vectors given */
    uint32_t given_columns;
    uint32_t dimensions;  /* components kept */
    uint32_t removed;     /* components left out before them */
    uint32_t dropped;     /* degenerate words that were left out */
    double kept;          /* share of the variance in the components kept, 0 to 1 */
    double rms_distance;  /* of two words, in the vectors given and in the prepared ones */
    double scale;         /* the factor of the last step: the length of every prepared vector */
    uint64_t reserved[4]; /* 0 */
} tem_recipe;

/* Fills *recipe. Any thread. */
TEM_API void tem_model_get_recipe(const tem_model *model, tem_recipe *recipe);

/* The median, over the words, of the distance to the nearest word at another point. It is exact;
 * for an even number of words it is the lower median. Words at the same point, such as duplicates,
 * do not count as neighbors of each other. There is one exception, in a model that was built in
 * this process: if rounding has put a word on the point of another word, and the original vectors
 * are more than 2^-17 apart, the word counts with distance 0. A model from a file does not have the
 * original vectors, so the exception does not apply.
 *   median    receives the median; 0 if all words are at one point
 * Fails with TEM_ERR_ARGUMENT, TEM_ERR_MEMORY or TEM_ERR_DAMAGED. Any thread. Cost: one look at
 * each list. */
TEM_API tem_status tem_model_nearest_median(const tem_model *model, tem_dist *median,
                                            tem_error *error);

/* Checks that the grid is fine enough for the words. Fails with TEM_ERR_RANGE if `deviation` is
 * above `percent` percent of tem_model_nearest_median. Epsilon is per unit of the model's
 * distances; with such a grid it differs from epsilon per unit of the original distances. The
 * message has the numbers and the remedy. It also names the words whose values stand out, by their
 * place, from 1: one large value makes the grid coarse for all words. tem_model_build refuses with
 * TEM_GRID_REFUSED_PERCENT; callers should warn with TEM_GRID_WARNED_PERCENT. Also fails as
 * tem_model_nearest_median does. Any thread. */
TEM_API tem_status tem_model_check_grid(const tem_model *model, uint32_t percent, tem_error *error);
#define TEM_GRID_WARNED_PERCENT 1u
#define TEM_GRID_REFUSED_PERCENT 50u

/* The word with this id. *length receives its number of bytes; length may be NULL. The word is not
 * NUL-terminated and lives as long as the model. For an id that is not below the number of words,
 * or in a damaged file, returns NULL and a length of 0. Any thread. O(1). */
TEM_API const char *tem_model_word(const tem_model *model, uint32_t id, size_t *length);

/* The id of a word, or TEM_NO_WORD. Any thread. O(1) on average. */
TEM_API uint32_t tem_model_find(const tem_model *model, const char *word, size_t length);

/* Whether a word is excluded (tem_build_options): 1 or 0. No mechanism ever draws an excluded word.
 * It can still be an input. 0 if the id is not below the number of words. Any thread. */
TEM_API int tem_model_is_excluded(const tem_model *model, uint32_t id);

/* The exact distance of two words. UINT32_MAX if an id is not below the number of words. Any
 * thread. O(dimension). */
TEM_API tem_dist tem_model_distance(const tem_model *model, uint32_t a, uint32_t b);

/* The vector of a word as it is stored: whole steps of 2^-q, exact as floats.
 *   out       receives `dimension` numbers (tem_model_info)
 * The vectors of the default model, and of any .temv file, may be rotated: the distances are those
 * of the source, the single numbers are not. Fails with TEM_ERR_ARGUMENT (id out of range) or
 * TEM_ERR_UNSUPPORTED (TEM_MATRIX has no vectors). Any thread. O(dimension). */
TEM_API tem_status tem_model_vector(const tem_model *model, uint32_t id, float *out,
                                    tem_error *error);

typedef struct tem_neighbour {
    uint32_t id;
    tem_dist distance;
} tem_neighbour;

typedef struct tem_neighbours {
    const tem_neighbour *list; /* ordered by (distance, id); lives as long as the model */
    uint32_t count;            /* at least 1 */
    tem_dist bound;            /* the least distance of a word that is not in the list;
                                * UINT32_MAX if the list has every word */
    uint64_t reserved[4];      /* 0 */
} tem_neighbours;

/* The list of a word: its nearest words. The word itself is in it, at distance 0, unless `count`
 * other words are equal to it and have smaller ids.
 * Fails with TEM_ERR_ARGUMENT (id out of range) or TEM_ERR_DAMAGED. Any thread. O(count) on first
 * use of a word's list, then O(1). */
TEM_API tem_status tem_model_neighbours(const tem_model *model, uint32_t id,
                                        tem_neighbours *neighbours, tem_error *error);

/* Searches. They are exact for every metric: distances are integers, nearer words come first, and
 * of two words at the same distance the one with the lower id. A word finds itself, too, at
 * distance 0. Excluded words are found (tem_model_is_excluded). A search looks at all words of the
 * model, unless the list of the word has the answer; for a model that is not trusted it always
 * looks at all words. Results are in the caller's memory: there is nothing to free. Any thread. */

/* Finds the k nearest words of each of several words.
 *   words    `count` ids of the model
 *   k        1 to the number of words of the model
 *   run      threads and progress; NULL: defaults
 *   found    receives count * k neighbors: the k of words[0], then those of words[1], and so on;
 *            unspecified after a failure
 * Fails with TEM_ERR_ARGUMENT (an id or k out of range), TEM_ERR_DAMAGED, TEM_ERR_MEMORY or
 * TEM_ERR_CANCELLED. Cost: for each word one look at its list, or one distance per word of the
 * model. */
TEM_API tem_status tem_search_nearest(const tem_model *model, const uint32_t *words, size_t count,
                                      uint32_t k, const tem_run *run, tem_neighbour *found,
                                      tem_error *error);

/* Finds the words within a distance of a word: those whose distance is at most `distance`.
 *   found    receives the `max` nearest of them, or all if there are fewer; may be NULL if max is 0
 *   count    receives the number of all of them, which may be above max
 * Fails with TEM_ERR_ARGUMENT (id out of range), TEM_ERR_DAMAGED or TEM_ERR_MEMORY. Cost: as
 * tem_search_nearest. */
TEM_API tem_status tem_search_within(const tem_model *model, uint32_t word, tem_dist distance,
                                     tem_neighbour *found, uint32_t max, uint32_t *count,
                                     tem_error *error);

/* The public order of all outputs around each word, by which the mechanism `rank` draws. */
typedef struct tem_order_info {
    uint32_t outputs;     /* in each order; 0: the model has no order, and all else is 0 */
    uint32_t list;        /* words in a list: the first ranks */
    uint32_t block;       /* words in a block; the last one may have fewer */
    uint32_t blocks;      /* in the order of each group */
    uint32_t groups;      /* of words that share one order of the blocks */
    uint64_t bytes;       /* in the file of the model */
    char hash[17];        /* 16 digits, as in the unit of what is charged for `rank` */
    uint64_t reserved[4]; /* 0 */
} tem_order_info;

TEM_API void tem_model_get_order(const tem_model *model, tem_order_info *info);

/* The outputs of some ranks around a word, nearest first. Around an output it is itself the one of
 * rank 0. Excluded words are no outputs.
 *   first     the first rank, from 0
 *   outputs   receives `count` ids; first + count is at most tem_order_info.outputs
 * Fails with TEM_ERR_ARGUMENT (an id or a rank out of range), TEM_ERR_UNSUPPORTED (the model has no
 * order), TEM_ERR_DAMAGED. Any thread. O(count), after a check of all orders by the first call. */
TEM_API tem_status tem_model_ranked(const tem_model *model, uint32_t word, uint32_t first,
                                    uint32_t count, uint32_t *outputs, tem_error *error);

/* ----------------------------------------------------------- randomness -- */

/* A source of random bits, for one thread at a time. */
typedef struct tem_rng tem_rng;

/* Makes a private source: ChaCha20 (libsodium), keyed by the kernel. It erases keys and used bits
 * as it goes. After fork() the child gets a new key. If the kernel gives no entropy, the library
 * writes one line that says so to stderr and ends the program: there is no safe way to continue.
 * Fails with TEM_ERR_MEMORY. Free with tem_rng_free. */
TEM_API tem_status tem_rng_create(tem_rng **rng, tem_error *error);

/* Makes a source that gives the same bits for the same (seed, stream), every time. For tests and
 * experiments only: words that are drawn from this source are NOT private. Fails as tem_rng_create
 * does. */
TEM_API tem_status tem_rng_create_insecure(uint64_t seed, uint64_t stream, tem_rng **rng,
                                           tem_error *error);

/* 1 for a source of tem_rng_create, 0 for an insecure one. */
TEM_API int tem_rng_is_private(const tem_rng *rng);

/* Returns a number from 0 to bound - 1, each with the same probability, exactly. 0 if bound is 0 or
 * rng is NULL. */
TEM_API uint64_t tem_rng_below(tem_rng *rng, uint64_t bound);

/* Erases the key and frees the source. */
TEM_API void tem_rng_free(tem_rng *rng);

/* ----------------------------------------------------------- mechanisms -- */

/* A random function that replaces a word by a word, with all its parameters. */
typedef struct tem_mechanism tem_mechanism;

/* A public language model: how much each output weighs after the words that a document shows. */
typedef struct tem_language tem_language;

/* What a mechanism claims about the words that it draws. */
typedef enum tem_guarantee {
    TEM_GUARANTEE_NONE = 0,  /* nothing */
    TEM_GUARANTEE_IDEAL = 1, /* what its paper proves for ideal real numbers. The mechanism draws in
                              * floating point, outside the proof, so no budget can pay for it */
    TEM_GUARANTEE_EXACT = 2, /* metric differential privacy in the model's metric, for the draws
                              * as tem computes them in integers, unknown words included */
    TEM_GUARANTEE_OTHER = 3  /* a proof of something else, which `claim` says: between some words
                              * only, or for another distance. It gives no bound per unit of the
                              * model's distance, so tem treats it as no guarantee */
} tem_guarantee;

/* A number that a mechanism takes, and its range. tem refuses every value outside the range; the
 * model and the other numbers may narrow the range. */
typedef struct tem_parameter {
    const char *name;    /* "epsilon", "beta" and "gamma" are fields of tem_mechanism_options, all
                          * others are names for its field `numbers` */
    const char *meaning; /* one line for help texts */
    double least, most;
    double usual;         /* the default; 0: there is none */
    uint64_t reserved[4]; /* 0 */
} tem_parameter;

/* Properties of a mechanism that do not depend on a model or on parameters. Static strings. */
typedef struct tem_mechanism_properties {
    const char *name;    /* as users write it, such as "tem" */
    const char *summary; /* one line for help texts */
    const char *paper;   /* who published it, and when; NULL if it is not published */
    const char *claim;   /* the guarantee as one sentence; NULL if there is none */
    const char *caveat;  /* why no bound holds for what it draws; NULL if a bound holds */
    tem_guarantee guarantee;
    unsigned law_digits;   /* the most digits that tem_law_create gives for it. 0: its law cannot
                            * be computed, so it has neither a tem_law nor tem_mechanism_self */
    int is_exponential;    /* 1: its law has the form of TEM's (tem_mechanism_create): it falls off
                            * with the distance, so it has an accountant's numbers */
    int takes_gamma;       /* 1: beta or gamma may be given */
    int takes_weights;     /* 1: output weights may be given */
    int takes_certificate; /* 1: s, gamma and weights may come from a certificate */
    tem_metric needs_metric; /* the metric that the model must have; 0: any */
    const char *list; /* what the public list of words says that it needs; NULL: it takes none */
    const tem_parameter *parameters; /* the numbers that it takes; the last has the name NULL */
    const char
        *unit;    /* what its epsilon is per: "distance" (of the model) for every mechanism whose
                       * guarantee is in the model's metric. Charges add up only in one unit */
    int has_form; /* 1: its law is a_y K(w, y) / Z(w), with public weights a and a public closeness
                   * K of words, so it has a tem_channel. Every exponential law has such a form */
} tem_mechanism_properties;

/* The i-th mechanism, from 0; NULL beyond the last. "tem", "em" and "madlib" are always among
 * them. Static. Any thread. */
TEM_API const tem_mechanism_properties *tem_mechanism_at(unsigned i);

#define TEM_BETA_DEFAULT 0.001

/* A number for a mechanism, by its name in the mechanism's `parameters`. */
typedef struct tem_parameter_value {
    const char *name;
    double value;
} tem_parameter_value;

/* A field of 0 means the default; epsilon has no default. */
typedef struct tem_mechanism_options {
    const char *mechanism;   /* a name of tem_mechanism_at; NULL: "tem" */
    double epsilon;          /* per unit of distance; finite, above 0 */
    double beta;             /* TEM: tem chooses gamma so that, with equal weights, the output is
                              * within gamma with probability 1 - beta; default TEM_BETA_DEFAULT.
                              * Not so for an excluded input: its nearest output may be farther */
    double gamma;            /* TEM: gamma itself, instead of beta */
    const uint32_t *weights; /* TEM, EM: how often each word is an output, one number per word,
                              * not all 0; copied; NULL: all equal. They are the same for every
                              * input, so no guarantee depends on them; they must be public */
    const struct tem_certificate *certificate; /* TEM: take s, gamma and weights from this
                              * certificate, which must be for this model and epsilon. `weights`
                              * must be NULL; beta or gamma must be 0 or as the certificate has it.
                              * The call does not recompute the proof (tem_certificate_verify);
                              * tem_certificate_trust says whether to trust it. Needed only during
                              * the call */
    const tem_parameter_value *numbers; /* the mechanism's own numbers; the last has the name NULL.
                              * A number that is not given has its usual value */
    const uint8_t *listed;  /* for a mechanism with a `list`: 1 for each word of the model that
                              * is in the list, 0 for the others; copied. The list must be public */
    int allow_no_guarantee; /* 1: make the mechanism even if it is not TEM_GUARANTEE_EXACT or
                              * TEM_GUARANTEE_IDEAL. Only to compare, or to attack: what it releases
                              * is not protected */
    const uint32_t *remap;  /* a public map: an output word for each word of the model, which
                            * replaces that word wherever it was drawn; copied. NULL: none.
                            * tem_remap_make makes a good one. The bound stays, whatever the map is;
                            * the law is that of the mechanism with its map; it can be neither
                            * audited nor inverted */
    const tem_language *language; /* a public language model, which must live as long as the
                            * mechanism. The words of a document are then drawn one after the other:
                            * P(y | w, past) = a_y(past) K(w, y) / Z(w, past), where K is the
                            * closeness of the mechanism (a law with has_form) and a_y(past) what
                            * the language model weighs y after the words released before. The
                            * guarantee is that of the mechanism with weights, whatever the language
                            * model says. Not with weights, a certificate or a remap. NULL: none */
    const uint8_t *never; /* words that are never released: 1 for each of them, 0 for the others,
                            * one number per word; copied. They must be public. Their weight is 0,
                            * as that of excluded words; some word must be left. For a law with
                            * has_form, and not with a certificate. NULL: none */
    uint64_t reserved[2]; /* must be 0 */
} tem_mechanism_options;

/* Makes a mechanism over a model, which must live as long as the mechanism.
 *
 * TEM and EM: let s = (floor(2^19 epsilon) - 1) / 2^20 (or the s of the certificate), gamma be
 * rounded up to steps of 2^-16, d be the model's distance, a the weights and A their sum. Then
 *     P(y | w) = a_y exp(-s min(d(w,y), gamma)) / Z(w)
 * up to a relative error of 2^-99. This s leaves room for the error, so that for all words w, w', y
 *     P(y | w) <= exp(epsilon min(d(w,w'), gamma)) P(y | w').
 * An unknown word counts as a word at distance gamma from every word: P(y) = a_y / A.
 * Fails with
 *  - TEM_ERR_UNTRUSTED: the model is not trusted;
 *  - TEM_ERR_ARGUMENT: no such mechanism; both beta and gamma; an option that the mechanism does
 *    not take (tem_mechanism_properties); weights beside a certificate; a list that is missing;
 *    no allow_no_guarantee where it is needed;
 *  - TEM_ERR_RANGE: epsilon or gamma is not positive or beyond the integers above, s gamma is
 *    beyond 64, or all weights are 0;
 *  - TEM_ERR_CERTIFICATE: the certificate is for another model, epsilon, beta or gamma;
 *  - TEM_ERR_UNSUPPORTED: the mechanism needs another metric;
 *  - TEM_ERR_DAMAGED: lists of the model overlap;
 *  - TEM_ERR_MEMORY.
 * Cost: O(words). From the first draw for a word on, the mechanism keeps 64 bytes for that word and
 * 4 bytes for each word of its list. */
TEM_API tem_status tem_mechanism_create(const tem_model *model,
                                        const tem_mechanism_options *options,
                                        tem_mechanism **mechanism, tem_error *error);
TEM_API void tem_mechanism_free(tem_mechanism *mechanism);

/* Kinds of output weights: how likely each word is as an output, apart from its distance to the
 * input word. */
typedef enum tem_weights_kind {
    TEM_WEIGHTS_EQUAL = 1,    /* all 1: the paper's mechanism */
    TEM_WEIGHTS_BALANCED = 2, /* of a certificate: they make Z the same for all words, so that s is
                               * nearly epsilon */
    TEM_WEIGHTS_TUNED = 3,    /* of a certificate: the least expected distance under a prior */
    TEM_WEIGHTS_OWN = 4       /* the caller's, in tem_mechanism_options; never a certificate's */
} tem_weights_kind;

/* The name of a kind: "equal", "balanced", "tuned" or "own"; "unknown" for an invalid value. And
 * the kind with a name: one of the first three, which a user can choose; TEM_ERR_ARGUMENT for other
 * names. */
TEM_API const char *tem_weights_name(tem_weights_kind kind);
TEM_API tem_status tem_weights_parse(const char *name, tem_weights_kind *kind, tem_error *error);

typedef struct tem_mechanism_info {
    const tem_mechanism_properties *properties;
    double epsilon;
    double beta;          /* the beta that gamma was computed from; 0 if there was none */
    uint64_t s_steps;     /* s in steps of 2^-20, exactly as the sampler uses it; 0 if the
                           * mechanism has none */
    double s;             /* the same as a number */
    tem_dist gamma_steps; /* gamma in steps of 2^-16; 0 if it has none */
    double gamma;
    double epsilon_gamma; /* the most that one word can cost: the epsilon of local differential
                           * privacy. Infinity without an exact guarantee */
    double moved_mass;    /* EM: no probability differs from that of the untruncated mechanism by
                            * more than this; else 0 */
    tem_weights_kind weights;
    char certificate[65]; /* hash of the certificate that s comes from, in hex, or "" */
    char remap[65];       /* hash of the map (tem_mechanism_options), in hex, or "" */
    char numbers[160]; /* the mechanism's own numbers, and 16 digits of the hash of its list, such
                           * as "p=0.3, list=0123456789abcdef"; or "" */
    double bound;      /* the most that the output for one word can tell any two inputs apart;
                            * epsilon_gamma for TEM and EM. Infinity without an exact guarantee */
    char unit[48];     /* the unit of epsilon on this model, such as "distance/euclidean" */
    uint64_t reserved[1]; /* 0 */
} tem_mechanism_info;

/* Fills *info. Any thread. O(words) for EM, else O(1). */
TEM_API void tem_mechanism_get_info(const tem_mechanism *mechanism, tem_mechanism_info *info);

/* The language model of the options, or NULL. Any thread. */
TEM_API const tem_language *tem_mechanism_language(const tem_mechanism *mechanism);

/* The output weights, one per word; they live as long as the mechanism. NULL if all are equal and
 * the model excludes no words: an excluded word has the weight 0. */
TEM_API const uint32_t *tem_mechanism_weights(const tem_mechanism *mechanism);

/* Draws the output for a word. Not with a language model: its words are drawn in documents.
 *   word      an id of the model, or TEM_NO_WORD for an unknown word
 *   out       receives an id of the model
 * Fails with TEM_ERR_ARGUMENT (id out of range) or TEM_ERR_DAMAGED (the model contradicts itself).
 * Then *out is untouched, and the caller must release nothing. Any thread, each with its own rng.
 * The time that a draw takes depends on the word. */
TEM_API tem_status tem_mechanism_draw(const tem_mechanism *mechanism, tem_rng *rng, uint32_t word,
                                      uint32_t *out, tem_error *error);

/* Draws the outputs for `count` words at once. On failure `out` holds unspecified ids; the caller
 * must release none of them. words and out may be the same array. */
TEM_API tem_status tem_mechanism_draw_many(const tem_mechanism *mechanism, tem_rng *rng,
                                           const uint32_t *words, uint32_t *out, size_t count,
                                           tem_error *error);

/* ----------------------------------------------------------------- text -- */

/* A text is UTF-8. tem converts the text to NFC, folds its case, cuts it at Unicode's word
 * boundaries (UAX #29), and replaces every word: by a draw of the mechanism, or by a policy that
 * the caller asked for by name. The output has the words in one line, separated by single spaces.
 * In another order, or as counts, if the caller asks for that (tem_order).
 * Case, spacing, line ends and, unless asked for, punctuation do not come back.
 *
 * The rule: the output for a text or a field depends on the draws, on the options and on the number
 * of pieces of the text. Apart from the pieces that an option releases, the output depends on
 * nothing else of the text. The number of pieces is public. src/text/pieces.h says how tem finds
 * pieces. */

/* What tem does with an unknown word. */
typedef enum tem_oov {
    TEM_OOV_UNIFORM = 1, /* the default: draws by weight from all words, as the guarantee needs */
    TEM_OOV_DROP = 2,    /* leaves it out: its absence shows that there was an unknown word */
    TEM_OOV_MASK = 3,    /* writes "<unk>": shows where there was an unknown word */
    TEM_OOV_KEEP_UNSAFE = 4 /* releases it as it is: NO privacy for unknown words */
} tem_oov;

/* What tem does with punctuation: a piece without letter or digit. */
typedef enum tem_punctuation {
    TEM_PUNCTUATION_DROP = 1, /* the default: leaves it out */
    TEM_PUNCTUATION_KEEP = 2, /* releases it as it is */
    TEM_PUNCTUATION_WORD = 3  /* treats it as a word */
} tem_punctuation;

/* What tem does with the order of the words of a document. In a random order, or as counts, a
 * release is a bag of words, and the guarantee holds in the Earth Mover's metric (tem_bag.h): it no
 * longer matters which word stands where. Both need the policies that draw for every word or leave
 * punctuation out: `oov` must be TEM_OOV_UNIFORM, `punctuation` TEM_PUNCTUATION_DROP or
 * TEM_PUNCTUATION_WORD, and `keep_lines` 0; tem refuses other policies with TEM_ERR_ARGUMENT,
 * because what they release would show places or lines. The draws are those of TEM_ORDER_KEPT: with
 * the same seed, the same words come out. */
typedef enum tem_order {
    TEM_ORDER_KEPT = 1,     /* the default: each word comes out where its input word stood */
    TEM_ORDER_SHUFFLED = 2, /* the words come out in an order drawn at random, all orders being
                             * equally likely */
    TEM_ORDER_COUNTS = 3    /* instead of words, one JSON object comes out: how often each word was
                             * drawn, {"film": 2, "was": 1}, sorted by the bytes of the words; {} if
                             * the document has no words. Takes 8 bytes per word of the model and
                             * thread */
} tem_order;

/* How tem writes the drawn words of a document. All are functions of the drawn words, so they tell
 * nothing about the text. Readers of released text find the same words, whatever the style is. */
typedef enum tem_style {
    TEM_STYLE_WORDS = 1,    /* the words as the vocabulary has them, with spaces; the default
                             * without a language model */
    TEM_STYLE_SENTENCE = 2, /* joined words, a capital at the beginning, "I" for the word "i", and a
                             * full stop at the end of each line that has words; with a language
                             * model of n-grams also where sentences seem to end in it. Not with
                             * TEM_PUNCTUATION_KEEP: TEM_ERR_ARGUMENT */
    TEM_STYLE_JOINED = 3    /* words and the endings of English contractions and genitives after
                             * them come together: "do n't" and "don t" become "don't", "it s"
                             * becomes "it's", but only where reading the result gives the same
                             * words again. The default with a language model. It is not for
                             * TEM_ORDER_COUNTS, and neither is TEM_STYLE_SENTENCE:
                             * TEM_ERR_ARGUMENT */
} tem_style;

/* What tem does with a content word that a document says again: a word, known or not, that is not
 * on the public list of English function words (data/function-words.txt). Words are compared as
 * they are folded. Punctuation is no content word. */
typedef enum tem_repeat {
    TEM_REPEAT_EACH = 1, /* the default: draws for each place, and each place costs */
    TEM_REPEAT_ONCE = 2  /* gives the word the output that it had, so a distinct word of a document
                          * costs once. The output shows at which places content words repeat, and
                          * the bound holds only between texts whose content words repeat at the
                          * same places (tem_job_condition); between others nothing is promised,
                          * not even if they differ in a single word. `order` must be
                          * TEM_ORDER_KEPT: TEM_ERR_ARGUMENT. A document has at most 2^20 distinct
                          * content words: TEM_ERR_RANGE */
} tem_repeat;

/* A field of 0 means the default. */
typedef struct tem_text_options {
    tem_oov oov;
    tem_punctuation punctuation;
    int strip_tags; /* 1: leave out HTML tags, such as <br />; each counts as a space */
    int keep_lines; /* 1: write as many lines as the text has, separated by LF. The number of pieces
                     * in each line is then public. A line ends in LF or CR LF. 0: one line */
    tem_order order;
    tem_style style;
    tem_repeat repeat;
    uint64_t reserved[2]; /* must be 0 */
} tem_text_options;

/* The names of policies: "uniform", "drop", "mask", "keep-unsafe"; "drop", "keep", "word";
 * "unknown" for an invalid value. And the policy of a name: TEM_ERR_ARGUMENT for other names. */
TEM_API const char *tem_oov_name(tem_oov oov);
TEM_API tem_status tem_oov_parse(const char *name, tem_oov *oov, tem_error *error);
TEM_API const char *tem_punctuation_name(tem_punctuation punctuation);
TEM_API tem_status tem_punctuation_parse(const char *name, tem_punctuation *punctuation,
                                         tem_error *error);

/* The name of an order: "kept", "shuffled" or "counts"; "unknown" for an invalid value. And the
 * order of a name: TEM_ERR_ARGUMENT for other names. */
TEM_API const char *tem_order_name(tem_order order);
TEM_API tem_status tem_order_parse(const char *name, tem_order *order, tem_error *error);

/* The name of a style: "words", "sentence" or "joined"; "unknown" for an invalid value. And the
 * style of a name: TEM_ERR_ARGUMENT for other names. */
TEM_API const char *tem_style_name(tem_style style);
TEM_API tem_status tem_style_parse(const char *name, tem_style *style, tem_error *error);

/* The name of a policy: "each" or "once"; "unknown" for an invalid value. And the policy of a name:
 * TEM_ERR_ARGUMENT for other names. */
TEM_API const char *tem_repeat_name(tem_repeat repeat);
TEM_API tem_status tem_repeat_parse(const char *name, tem_repeat *repeat, tem_error *error);

/* What a call did. The counts depend on the private text: they are for its owner only. */
typedef struct tem_counts {
    uint64_t documents;
    uint64_t words;       /* pieces that are words, unknown words included */
    uint64_t unknown;     /* unknown words among them */
    uint64_t punctuation; /* pieces of punctuation; TEM_PUNCTUATION_WORD also adds them to words */
    uint64_t largest;     /* words of the document with the most words, with TEM_REPEAT_ONCE words
                           * that cost; 0: not known, or no words */
    uint64_t function_words;   /* English function words that the model has, such as "the" */
    uint64_t charged;          /* words that cost: `words` without the places where TEM_REPEAT_ONCE
                                * gave an output again. Only a charge with TEM_REPEAT_ONCE reads it
                                */
    uint32_t public_documents; /* documents that are lines of the texts that the language model was
                                * made of: of 5 known words or more, whatever their case, spaces and
                                * punctuation. An estimate if the language model keeps a sample of
                                * the lines; at most 2^32 - 1. All documents if a pipe was such a
                                * text, from its first byte to its last. 0 for documents of ids
                                * (tem_counts_are_public) */
    uint16_t public_found;     /* how many of them were found: fewer if the lines are a sample; at
                                * most 2^16 - 1 */
    uint16_t reserved[1];      /* 0 */
} tem_counts;

/* Whether most of a text seems to be in another language than the words of the model: 1 or 0. Of at
 * least 20 words more than half are unknown; or, where the model has English words, more than a
 * quarter are, and less than an eighth are function words, which fill half of an English text. The
 * unknown words came out as words drawn from the whole vocabulary. 0 for NULL. Any thread. */
TEM_API int tem_counts_are_foreign(const tem_mechanism *mechanism, const tem_counts *counts);

/* Whether most documents seem to be lines of the texts that the language model was made of: 1 or 0.
 * Then take another one: this one shows much of the text to whoever has its file. Of a sample of
 * the lines fewer than 4 that were found say nothing. 0 for NULL. Any thread. */
TEM_API int tem_counts_are_public(const tem_counts *counts);

/* Privatizes one document.
 *   options   NULL: all defaults
 *   text      `bytes` bytes; need not end in NUL
 *   run       the call asks its callback whether to continue; NULL: no callback
 *   out       receives the private text, NUL-terminated; free with tem_text_free
 *   out_bytes receives its length
 *   counts    the call adds to these counts and does not reset them; may be NULL
 * Fails with TEM_ERR_FORMAT (not UTF-8; `byte` is the first invalid byte), TEM_ERR_RANGE (more than
 * 1 GiB; more than 16 MiB that cannot be divided: one word, or words joined by hyphens; more than
 * 1 MiB of combining marks in a row), TEM_ERR_DAMAGED, TEM_ERR_MEMORY, TEM_ERR_ARGUMENT,
 * TEM_ERR_CANCELLED. It then returns no text. Any thread, each with its own rng. Memory: twice the
 * result. tem reads the text in small parts; with `strip_tags` it copies the text once. */
TEM_API tem_status tem_privatize_text(const tem_mechanism *mechanism,
                                      const tem_text_options *options, tem_rng *rng,
                                      const char *text, size_t bytes, const tem_run *run,
                                      char **out, size_t *out_bytes, tem_counts *counts,
                                      tem_error *error);
TEM_API void tem_text_free(char *text);

/* Finds the words of a text, as tem_privatize_text finds them: their ids, or TEM_NO_WORD for
 * unknown words.
 *   ids       receives the first `max` ids; unspecified ids on failure
 *   count     receives the number of all words
 * Fails as tem_privatize_text does. Any thread. */
TEM_API tem_status tem_model_pieces(const tem_model *model, const char *text, size_t bytes,
                                    uint32_t *ids, size_t max, size_t *count, tem_error *error);

/* Counts the words of the model that no text can contain, because folding changes them ("ß" becomes
 * "ss") or a word boundary cuts them. They are outputs like any other word, and never an input.
 *   count     receives their number
 * Fails with TEM_ERR_MEMORY or TEM_ERR_DAMAGED. Any thread. Cost: about a microsecond per word. */
TEM_API tem_status tem_model_count_unreachable(const tem_model *model, uint32_t *count,
                                               tem_error *error);

typedef enum tem_format {
    TEM_FORMAT_TEXT = 1, /* each line is a document; the default */
    TEM_FORMAT_TSV = 2,  /* tab-separated, without quoting; the first line names the fields */
    TEM_FORMAT_CSV = 3,  /* RFC 4180; the first record names the fields */
    TEM_FORMAT_JSONL = 4 /* one object per line; the field is a string or null */
} tem_format;

/* The name of a format: a static string, "unknown" for an invalid value; and the format of a name,
 * TEM_ERR_ARGUMENT for other names. Any thread. */
TEM_API const char *tem_format_name(tem_format format);
TEM_API tem_status tem_format_parse(const char *name, tem_format *format, tem_error *error);

/* The name of the i-th format, from 0; NULL beyond the last. Unless they are NULL, *format receives
 * its number, *has_fields whether its records have fields, one of which the job must name (1 or 0),
 * and *meaning one line that says how records are written. Static strings. Any thread. */
TEM_API const char *tem_format_at(unsigned i, tem_format *format, int *has_fields,
                                  const char **meaning);

/* How a file is compressed. */
typedef enum tem_packing {
    TEM_PACKING_NONE = 1,
    TEM_PACKING_GZIP = 2,
    TEM_PACKING_ZSTD = 3
} tem_packing;

/* What tem does with a missing text: a field that is null in JSONL, or a NULL in tem_text_input. */
typedef enum tem_missing {
    TEM_MISSING_EMPTY = 1, /* the default: writes "", and counts a document of no words */
    TEM_MISSING_KEEP = 2   /* writes null, and counts no document: shows that there was no text */
} tem_missing;

/* The name of a policy: "empty" or "keep"; "unknown" for an invalid value. And the policy of a
 * name: TEM_ERR_ARGUMENT for other names. */
TEM_API const char *tem_missing_name(tem_missing missing);
TEM_API tem_status tem_missing_parse(const char *name, tem_missing *missing, tem_error *error);

/* What a run did with a field of its records. */
typedef enum tem_field_use {
    TEM_FIELD_UNCHANGED = 1, /* released as it is, byte for byte */
    TEM_FIELD_PRIVATE = 2,   /* every word replaced */
    TEM_FIELD_DROPPED = 3    /* left out */
} tem_field_use;

/* The name of a use: "unchanged", "private" or "dropped"; "unknown" for an invalid value. And the
 * use of a name: TEM_ERR_ARGUMENT for other names. */
TEM_API const char *tem_field_use_name(tem_field_use use);
TEM_API tem_status tem_field_use_parse(const char *name, tem_field_use *use, tem_error *error);

/* One field of the records of a run. */
typedef struct tem_field {
    const char *name;  /* as the records have it, without quotes and escapes, NUL-terminated: any
                         * bytes in TSV and CSV, UTF-8 in JSONL. Escape it before you print it */
    size_t name_bytes; /* without the NUL */
    tem_field_use use;
    const char *looks_like; /* of an unchanged field: what its values may be, such as "e-mail
                             * addresses". Static string. NULL: nothing that tem knows */
    int looks_by_content;   /* 1: the first values have that form; 0: the name suggests it */
    uint64_t reserved[4];   /* 0 */
} tem_field;

/* The fields of the records of a run, in the order in which they were found: all columns of TSV and
 * CSV, and the union of the top-level keys of all objects of JSONL. A list has at most
 * TEM_FIELDS_MAX fields. It has names, and no values. One thread at a time may change it. */
typedef struct tem_fields tem_fields;
#define TEM_FIELDS_MAX 256

/* Makes an empty list. TEM_ERR_MEMORY. */
TEM_API tem_status tem_fields_create(tem_fields **fields, tem_error *error);
TEM_API void tem_fields_free(tem_fields *fields);

/* The number of fields; whether there were more than TEM_FIELDS_MAX (1 or 0); and field i, from 0:
 * returns 1, or 0 if there is no field i. `name` of *field lives until the list changes. */
TEM_API size_t tem_fields_count(const tem_fields *fields);
TEM_API int tem_fields_have_more(const tem_fields *fields);
TEM_API int tem_fields_at(const tem_fields *fields, size_t i, tem_field *field);

/* For callers who read records themselves. tem_fields_add adds a field, unless the list has it;
 * *index, unless NULL, receives its place, or TEM_FIELDS_MAX if the list is full. tem_fields_look
 * looks at a value of field i; a few hundred values are enough. No later result depends on a value
 * except looks_like.
 * tem_fields_add fails with TEM_ERR_ARGUMENT or TEM_ERR_MEMORY. */
TEM_API tem_status tem_fields_add(tem_fields *fields, const char *name, size_t bytes,
                                  tem_field_use use, size_t *index, tem_error *error);
TEM_API void tem_fields_look(tem_fields *fields, size_t i, const char *value, size_t bytes);

/* What a ledger says after a run. The numbers are rounded; those in the ledger are exact. With
 * `by`, spent_before and left are those of the person in this run who has the least left. */
typedef struct tem_balance {
    double spent_before;  /* without this run */
    double spent;         /* charged by this run, over all people; 0 for a dry run */
    double left;          /* of the budget, after this run (a dry run: after the run that it stands
                          * for); infinity without a budget */
    uint64_t people;      /* with `by`: how many people this run is charged to */
    int created;          /* 1: there was no ledger, and this run started one */
    int is_mixed;         /* 1: earlier charges were with another model or in another unit, so
                           * spent_before adds up what does not add up */
    uint64_t largest;     /* with `by`: words of the person with the most words in this run */
    double worst_before;  /* as spent_before, but the sum of the bounds (`spent_worst`) */
    double worst_left;    /* as left, but of budget_worst */
    uint64_t reserved[1]; /* 0 */
} tem_balance;

/* A job: inputs, format and policies of a run over files, or over texts in memory. A field of 0 or
 * NULL means the default. */
typedef struct tem_job {
    tem_text_options text;
    tem_format format;
    tem_missing missing;
    const char *field;         /* TSV, CSV, JSONL: which field is private; no default */
    const char *const *inputs; /* paths; "-" is standard input, which is the default */
    size_t input_count;
    const char *output; /* a path, which appears when the run is complete; "-" or NULL: standard
                         * output, where whole documents appear as they are done. No input, under
                         * whatever name */
    tem_overwrite overwrite;
    int dry_run;         /* 1: read and count; draw and write nothing */
    int insecure_seeded; /* 1: draw from tem_rng_create_insecure(seed, document's number), which
                          * gives the same output for any number of threads. NOT private */
    uint64_t insecure_seed;

    const char *ledger; /* a file to which tem writes each charge before it releases the words */
    double budget;      /* with a ledger: the most that all runs together may spend: words times
                           * epsilon, in one unit (tem_mechanism_info) */
    const char *by;     /* with a ledger and a field: the field that names people. Each person is
                           * charged for their own records and has a budget of this size. It may
                           * be one of `dropped` */
    const char *const *more_fields; /* further private fields */
    size_t more_field_count;
    const char *const *dropped; /* fields that tem leaves out of the output, header included */
    size_t dropped_count;
    char delimiter; /* CSV: the ASCII byte between fields: punctuation, a space or a tab, no quote.
                     * 0: comma or semicolon, whichever the named fields of the header need */
    tem_packing packing; /* of the output; 0: TEM_PACKING_NONE. tem recognizes compressed inputs by
                          * their first bytes */
    double budget_worst; /* with a ledger: the most that all runs together may spend in the worst
                           * case: the sum of their bounds between any two inputs, whatever their
                           * models, mechanisms and units are. Beside `budget`, or instead of it */
    size_t dropped_if_present; /* so many of `dropped`, the last ones, may be missing everywhere;
                                * else tem takes a name that nobody has for a mistake */
    uint64_t reserved[1];      /* must be 0 */
} tem_job;

/* Between which texts the bound of a run of this job holds, if not between any two with as many
 * words (in each line, with keep_lines): one sentence without its final period; a static string.
 * NULL: between any two. Any thread. */
TEM_API const char *tem_job_condition(const tem_job *job);

/* Why no bound holds for what a run of this job tells about its text: one sentence without its
 * final period, with the remedy; a static string. NULL if a bound holds: `spent`, words * epsilon,
 * per unit of distance. Reports, ledgers and budgets call a run private exactly when this is NULL.
 * It is NULL if all of this holds: the mechanism states an exact bound; `oov` is
 * TEM_OOV_UNIFORM or 0; `punctuation` is TEM_PUNCTUATION_DROP, TEM_PUNCTUATION_WORD or 0;
 * `missing`, `order`, `style` and `repeat` are policies of this header or 0; insecure_seeded and
 * the reserved fields are 0. The text does not matter: a policy that may release a piece has no
 * bound, even if this text has no such piece. A dry run is judged as the run that it stands for.
 * Any thread. */
TEM_API const char *tem_job_why_not_private(const tem_mechanism *mechanism, const tem_job *job);

/* Privatizes files or a stream of any length. Memory is bounded by the largest record: at most 6
 * times its size, as it is read or as it is written, whichever is larger, and some megabytes per
 * thread. A document has at most 1 GiB, a record of TSV, CSV or JSONL 2 GiB; the other limits are
 * those of tem_privatize_text.
 *
 * Records. Each private field of a record is a document: `field`, and `more_fields`. tem leaves out
 * the fields in `dropped`, each with one separator. The other fields of a record, and the bytes
 * between fields, stay as they are. A record must have every private field, once; an object of
 * JSONL may lack a dropped one, but not all objects may: tem finds that out before it writes to a
 * file, or to standard output if all inputs are regular files. From a pipe to standard output the
 * first object must have every dropped field. No record need have the last `dropped_if_present`.
 * The output does not show how a private field was quoted or escaped: in CSV tem quotes it if the
 * output has the delimiter, a quote or a line end, or is empty and the only field; in TSV never.
 * Every record ends in LF, whatever end it had. tem leaves out a byte order mark at the start of an
 * input. Blank lines of TSV, CSV and JSONL are no records, and tem leaves them out; a blank line of
 * text is a document of no words and comes out as a blank line. Several inputs come out one after
 * the other; those of TSV or CSV must have the same header, which tem writes once. tem refuses
 * records that other readers might split into other fields: a carriage return alone, a quote that
 * stays open in a field of TSV, a named JSON key that occurs twice.
 *
 * Compression. tem unpacks inputs that are gzip or zstd, by their first bytes, a part at a time; it
 * refuses damaged or cut ones, other bytes after them, and zstd data whose window is above 128 MiB
 * (TEM_ERR_RANGE), since a window takes memory. It joins members and frames that follow one
 * another.
 *
 * Ledger. The cost of the words (epsilon each, in exact decimals of 12 places) is in the ledger on
 * the disk before tem writes the first of them anywhere. Any number of runs may share a ledger. If
 * all inputs are regular files, tem reads them twice: it counts, charges everything at once, and
 * writes nothing if the budget does not suffice. Otherwise it charges each batch of documents as it
 * comes, and stops before the document that would exceed the budget. A run that fails or is killed
 * after a charge has spent that charge, whatever it released.
 * A budget needs a private run (tem_job_why_not_private), a model that was opened from a file, and
 * a ledger whose charges are all private and for this model: epsilon is per unit of the model's
 * distance.
 * With `by` each record must name a person, by a string that is not empty, in JSON also by a whole
 * number. Two names are one person if they are the same bytes. The ledger stores a hash of the
 * name, under a salt of its own. A charge that names nobody, or names people by another field,
 * counts for everybody.
 * A dry run charges nothing, and fails with TEM_ERR_BUDGET if a run would.
 *
 *   counts    receives what the run did, also after a failure; or NULL
 *   balance   receives what the ledger says, also after a failure, unless there is no ledger or tem
 *             could not open it; or NULL
 *   fields    receives the fields of the records and what the run did with them, also after a
 *             failure; the call makes the list empty first. Show the unchanged ones to the user:
 *             tem does nothing to protect them. tem looks at the values of the first 1,000 records.
 *             NULL: none
 * Fails with TEM_ERR_ARGUMENT (also: a field is both private and dropped; a file is a text that the
 * language model was made of), TEM_ERR_FILE, TEM_ERR_EXISTS (also: the output is an input),
 * TEM_ERR_FORMAT (with file and line: not UTF-8, a broken record, a header without the field, a
 * file that is not a ledger), TEM_ERR_RANGE, TEM_ERR_DAMAGED (the model or the ledger),
 * TEM_ERR_BUDGET, TEM_ERR_MEMORY, TEM_ERR_CANCELLED. After a failure a file `output` does not
 * exist, or is as it was before. (It is whole if only flushing its directory failed; the message
 * says so.) Standard output then has the first documents, each whole, unless writing itself failed
 * or was interrupted. */
TEM_API tem_status tem_privatize_files(const tem_mechanism *mechanism, const tem_job *job,
                                       const tem_run *run, tem_counts *counts, tem_balance *balance,
                                       tem_fields *fields, tem_error *error);

/* A text of the caller, and the person whose text it is. */
typedef struct tem_text_input {
    const char *text;   /* `bytes` bytes of UTF-8; need not end in NUL. NULL: there is no text, and
                         * the job's `missing` decides what comes out */
    size_t bytes;       /* 0 where there is no text */
    const char *person; /* with `by`: who is charged, not empty, need not end in NUL; else NULL */
    size_t person_bytes;
    uint64_t reserved[4]; /* must be 0 */
} tem_text_input;

/* Many private texts. The object does not change once it is made: any thread may use it. */
typedef struct tem_texts tem_texts;

/* Privatizes many texts in memory, on several threads. It does for the texts what
 * tem_privatize_files does for the records of a file; text i has the number i. With insecure_seeded
 * the output equals, bit for bit, that of a file with the same documents, for any number of
 * threads.
 *   job       NULL: all defaults. The call uses `text`, `missing`, `dry_run`, `insecure_seeded`,
 *             `insecure_seed`, `ledger`, `budget` and `by`; `by` needs no `field`. The fields that
 *             are about files must be 0 or NULL
 *   texts     `count` texts; they stay the caller's
 *   run       threads 0: one per CPU, but no more than the texts have work for. Its callback gets
 *             the number of texts that are done
 *   out       receives the private texts, in the same order; free with tem_texts_free. NULL after a
 *             failure and after a dry run
 *   counts    receives the sum over all texts, 0 after a failure; or NULL
 *   balance   as in tem_privatize_files
 * All or nothing: if one text fails, or the charge fails, the call returns no text. With a ledger
 * it charges all texts at once, after it has drawn them and before it returns them; the charge is
 * on the disk when the call returns TEM_OK. A dry run charges nothing and says whether a run could
 * be charged.
 * Fails as tem_privatize_text and tem_job_charge do. If one text is the reason, the error's `line`
 * is its number, from 1, `byte` a byte of it, and `file` is ""; if several texts are wrong, it
 * names any one of them. Any thread. Memory: about twice the result, and some megabytes per
 * thread. */
TEM_API tem_status tem_privatize_texts(const tem_mechanism *mechanism, const tem_job *job,
                                       const tem_text_input *texts, size_t count,
                                       const tem_run *run, tem_texts **out, tem_counts *counts,
                                       tem_balance *balance, tem_error *error);

/* The private form of text i, from 0: UTF-8, NUL-terminated; it lives until tem_texts_free. Unless
 * bytes is NULL, *bytes receives its length. NULL if there was no text and the policy is
 * TEM_MISSING_KEEP, if there is no text i, or if texts is NULL. */
TEM_API const char *tem_texts_at(const tem_texts *texts, size_t i, size_t *bytes);
TEM_API void tem_texts_free(tem_texts *texts);

/* Finds a token: a word that the caller has cut from a text. tem folds the token as
 * tem_privatize_text folds text, and takes it as one piece, whatever is in it. If
 * tem_privatize_text would find exactly one piece in it, the id is that of the piece; else it is
 * that of the word of the vocabulary that equals the whole folded token, such as "new york".
 *   token     `bytes` bytes of UTF-8; need not end in NUL
 *   id        receives the id, or TEM_NO_WORD
 * Fails with TEM_ERR_ARGUMENT, TEM_ERR_FORMAT (not UTF-8), TEM_ERR_RANGE (more than 1 GiB) or
 * TEM_ERR_MEMORY. Any thread. */
TEM_API tem_status tem_model_find_token(const tem_model *model, const char *token, size_t bytes,
                                        uint32_t *id, tem_error *error);

/* A document of the caller, as ids of words, and the person whose document it is. */
typedef struct tem_ids_input {
    const uint32_t *ids; /* `count` ids of the model; TEM_NO_WORD: an unknown word */
    size_t count;
    const char *person; /* with `by`: who is charged, not empty, need not end in NUL; else NULL */
    size_t person_bytes;
    uint64_t reserved[4]; /* must be 0 */
} tem_ids_input;

/* Privatizes documents whose words the caller has cut and looked up, on several threads: draws for
 * every word, and counts and charges as tem_privatize_texts does. The number of words of each
 * document is public.
 *   job       NULL: all defaults. The call uses `oov`, `dry_run`, `insecure_seeded`,
 *             `insecure_seed`, `ledger`, `budget` and `by`; `by` needs no `field`. The fields that
 *             are about files, and the other policies about text, must be 0 or the default;
 *             `punctuation` may be TEM_PUNCTUATION_WORD, which describes what the call does
 *   documents `count` documents; they stay the caller's
 *   run       threads 0: one per CPU, but no more than there is work for. Its callback gets the
 *             number of words that are done
 *   out       receives an id for each word, one document after the other. Unless `oov` is
 *             TEM_OOV_UNIFORM or 0, it receives TEM_NO_WORD for an unknown word, and the caller
 *             does what the policy says. Untouched after a failure and after a dry run. May be NULL
 *             if there are no words
 *   counts    receives the sum over all documents, 0 after a failure; or NULL
 *   balance   as in tem_privatize_files
 * All or nothing: if a draw or the charge fails, the call returns no word. With a ledger it charges
 * all documents at once, after it has drawn and before it returns; the charge is on the disk when
 * the call returns TEM_OK. With insecure_seeded the same ids give the same output, for any number
 * of threads; it is not that of tem_privatize_texts.
 * Fails as tem_mechanism_draw (an id that is not of the model) and tem_job_charge do. Any thread.
 * Memory: 4 bytes per word. */
TEM_API tem_status tem_privatize_ids(const tem_mechanism *mechanism, const tem_job *job,
                                     const tem_ids_input *documents, size_t count,
                                     const tem_run *run, uint32_t *out, tem_counts *counts,
                                     tem_balance *balance, tem_error *error);

/* The cost of a text of the caller, and the person who is charged. */
typedef struct tem_document {
    tem_counts counts;  /* as tem_privatize_text has counted them, or the sum over many texts */
    const char *person; /* with `by`: who is charged, not empty, need not end in NUL; else NULL */
    size_t person_bytes;
    uint64_t reserved[4]; /* must be 0 */
} tem_document;

/* Charges the ledger of a job for texts that are in no file: tem_privatize_text has privatized
 * them, and nobody has seen the outputs yet. The promise is that of tem_privatize_files. Release
 * the outputs only after this call has returned TEM_OK, and not after a dry run: a dry run charges
 * nothing and says whether a run could be charged. The call charges all documents at once, and the
 * charge is on the disk when it returns; or it charges none. With no document it opens the ledger,
 * starts it if need be, and fills `balance`.
 *   job         the call uses `text`, `missing`, `dry_run`, `insecure_seeded`, `ledger`, `budget`
 *               and `by`. The first four must be as they were for the draws; `by` needs no `field`
 *   documents   `count` documents
 *   balance     as in tem_privatize_files
 * Fails with TEM_ERR_ARGUMENT (also: no ledger; a person without `by`), TEM_ERR_FORMAT (a file that
 * is not a ledger; a document without its person), TEM_ERR_RANGE (2^63 words or more; a budget or
 * an epsilon beyond what a ledger holds), TEM_ERR_FILE, TEM_ERR_DAMAGED, TEM_ERR_BUDGET,
 * TEM_ERR_MEMORY, TEM_ERR_CANCELLED. Any thread. */
TEM_API tem_status tem_job_charge(const tem_mechanism *mechanism, const tem_job *job,
                                  const tem_document *documents, size_t count, const tem_run *run,
                                  tem_balance *balance, tem_error *error);

/* How often `word` stays itself, N_w = P(w | w), to about 12 digits. Use it to choose an epsilon
 * and to warn. Fails with TEM_ERR_ARGUMENT or TEM_ERR_UNSUPPORTED (Madlib; a language model, with
 * which no word has a law alone). Cost: one distance per word of the vocabulary. */
TEM_API tem_status tem_mechanism_self(const tem_mechanism *mechanism, uint32_t word, double *self,
                                      tem_error *error);

/* How often a typical word stays itself: the median of N_w over words that occur by Zipf's law,
 * where the rank of a word is its place in the model. The call computes N_w at 49 quantiles of that
 * law. Below TEM_SELF_MEDIAN_SMALL nearly no text is left, and above TEM_SELF_MEDIAN_LARGE most of
 * it stays as it is: that is a half and a margin for the error of this estimate.
 * tem_mechanism_self_quantile tells whether words have too little privacy. With a language model
 * N_w depends on the words before: the median is that of the same law, at the same s, without a
 * language model. Words that the context expects stay more often than this says, others less.
 * Fails with TEM_ERR_ARGUMENT or TEM_ERR_UNSUPPORTED (Madlib). Cost: up to 49 times that of
 * tem_mechanism_self. */
TEM_API tem_status tem_mechanism_self_median(const tem_mechanism *mechanism, double *median,
                                             tem_error *error);
#define TEM_SELF_MEDIAN_SMALL 0.01
#define TEM_SELF_MEDIAN_LARGE 0.51

/* How often the exposed words stay themselves: the N_w that the share `quantile` of the words of
 * the model does not exceed. Rare words stay themselves more often than the words that fill a
 * text, and they tell more, so a warning should look at this number. The call computes N_w of 40
 * words, one in the middle of each fortieth of the model, or of all words if there are not so many:
 * an estimate, but always the same for a model. If one word in 20 stays itself more often than
 * TEM_SELF_QUANTILE_LARGE, a text has words without privacy. With a language model, as for
 * tem_mechanism_self_median.
 *   quantile   above 0, at most 1
 * Fails with TEM_ERR_ARGUMENT or TEM_ERR_UNSUPPORTED (Madlib). Cost: 40 times that of
 * tem_mechanism_self. */
TEM_API tem_status tem_mechanism_self_quantile(const tem_mechanism *mechanism, double quantile,
                                               double *self, tem_error *error);
#define TEM_SELF_QUANTILE 0.95
#define TEM_SELF_QUANTILE_LARGE 0.95

/* -------------------------------------------------------------- reports -- */

/* The format of reports and its version: the value of their first key, "report". docs/FORMAT.md has
 * the keys. A later version of tem may add keys, so readers skip keys that they do not know. If a
 * key ever changes its meaning or goes away, the number changes, and readers refuse the report. */
#define TEM_REPORT_FORMAT "tem 1"

/* Writes the report of a run as a JSON object: the mechanism and what it claims, the policies, the
 * counts, the cost, the hashes of the model and of the certificate. It contains no text, but it
 * depends on the private text: it is for the owner of the text only. `private` is true, and
 * `spent_worst` a number, exactly if tem_job_why_not_private gives no reason. The report is the
 * same in every locale.
 *   job       the job that ran; its inputs and output do not matter
 *   counts    what the run did, as tem_privatize_files or tem_privatize_text has counted
 *   balance   what the ledger of the job says after the run; NULL: the report does not mention a
 *             ledger
 *   fields    the fields of the records, as tem_privatize_files has found them; NULL: the report
 *             does not list fields
 *   text      receives UTF-8, NUL-terminated; free with tem_text_free. In names that are not UTF-8,
 *             such as that of the ledger, U+FFFD replaces the invalid bytes
 *   bytes     receives its length, without the NUL
 * Fails with TEM_ERR_ARGUMENT (also: a balance without a ledger) or TEM_ERR_MEMORY. Any thread. */
TEM_API tem_status tem_report_json(const tem_mechanism *mechanism, const tem_job *job,
                                   const tem_counts *counts, const tem_balance *balance,
                                   const tem_fields *fields, char **text, size_t *bytes,
                                   tem_error *error);

/* --------------------------------------------------------- certificates -- */

/* An exponent larger than epsilon/2 for which tem has proved, on one vocabulary, that the loss is
 * at most epsilon. A certificate holds for its own s, gamma and weights and for no others, not even
 * for a smaller s. tem_account.h makes, finds and verifies certificates. */
typedef struct tem_certificate tem_certificate;

/* Effects of a mechanism on words under a prior, as in tem_summary. All 0: not computed. */
typedef struct tem_effect {
    double self;     /* self_median */
    double support;  /* support_median */
    double distance; /* distance_mean */
    double bayes;
    uint64_t reserved[4]; /* 0 */
} tem_effect;

typedef struct tem_certificate_info {
    double epsilon;   /* the promised epsilon */
    double beta;      /* the beta that gamma was computed from; 0 if gamma was given */
    uint64_t s_steps; /* in steps of 2^-20 */
    double s;
    tem_dist gamma_steps; /* in steps of 2^-16 */
    double gamma;
    double realised;          /* the proved bound on the loss: at most epsilon */
    tem_weights_kind weights; /* equal, balanced or tuned */
    char prior[64];           /* the prior for `effect` and for tuned weights, or "" */
    tem_effect effect;        /* of the certified mechanism, as the certificate says; not proved */
    tem_effect plain;         /* of the paper's mechanism, s = epsilon/2, at the same epsilon */
    char space[65];           /* hash of the words, vectors and metric that it is for, in hex */
    char hash[65];            /* of the certificate, in hex */
    uint64_t reserved[8];     /* 0 */
} tem_certificate_info;

/* Whether a certificate is for the words, vectors and metric of this model: 1 or 0. For a model
 * that is not trusted the answer relies on what its file says. */
TEM_API int tem_certificate_is_for(const tem_certificate *certificate, const tem_model *model);

/* Fills *info. Any thread. */
TEM_API void tem_certificate_get_info(const tem_certificate *certificate,
                                      tem_certificate_info *info);

/* Fills *info from the certificate that the mechanism was made from, and returns 1. Returns 0 and
 * leaves *info untouched if there was none. */
TEM_API int tem_mechanism_get_certificate(const tem_mechanism *mechanism,
                                          tem_certificate_info *info);
TEM_API void tem_certificate_free(tem_certificate *certificate);

/* Loads the i-th certificate of a file, from 0; TEM_OK with *certificate NULL beyond the last. Free
 * it with tem_certificate_free. The call checks the hashes of the certificate: they show damage,
 * and prove nothing about who made it. Damage of other certificates shows when they are loaded.
 * Loading each in turn costs as much as reading the file once.
 * Fails with TEM_ERR_FILE, TEM_ERR_FORMAT (not a file of certificates), TEM_ERR_VERSION,
 * TEM_ERR_DAMAGED, TEM_ERR_MEMORY. */
TEM_API tem_status tem_certificate_load(const char *path, uint32_t i, tem_certificate **certificate,
                                        tem_error *error);

/* ---------------------------------------------------------------- trust -- */

/* The user's list of trusted models and certificates. A hash finds damage and does not tell who
 * made a file: a forged list, bound or s breaks the guarantee, and its hash fits. So tem keeps the
 * hashes of the models and certificates that this user has made or verified, one per line, in the
 * file $XDG_STATE_HOME/tem/trusted, else ~/.local/state/tem/trusted. The file and its directory
 * must belong to the user, must not be symbolic links, and nobody else may be able to write them.
 * All of these calls fail with TEM_ERR_UNTRUSTED if that does not hold (the error names what is
 * wrong), or if the environment does not tell where the list is; with TEM_ERR_FILE, TEM_ERR_MEMORY;
 * and with TEM_ERR_ARGUMENT for an invalid hash. Any thread, any number of processes.
 * A certificate is for words, vectors and metric. It says nothing about lists and bounds: the model
 * must be trusted, too. */

/* Whether the list has this hash (of tem_model_hash or tem_certificate_info): *has receives 1 or
 * 0. */
TEM_API tem_status tem_trust_has(const char *hash, int *has, tem_error *error);

/* Checks that the list can be changed. Makes the list and its directories if they do not exist, for
 * their owner alone. */
TEM_API tem_status tem_trust_ready(tem_error *error);

/* Adds a hash to the list, or removes it. The change is on the disk when the call returns TEM_OK.
 * The call waits while others change the list, and may then fail with TEM_ERR_CANCELLED. */
TEM_API tem_status tem_trust_add(const char *hash, const tem_run *run, tem_error *error);
TEM_API tem_status tem_trust_remove(const char *hash, const tem_run *run, tem_error *error);

/* Whether a certificate that was loaded from a file may be used with a model: TEM_OK if it lies
 * beside a model that came with the program (tem_model_accept, tem_model_trust_own), or if this
 * user has made or verified it.
 *   path      the file that the certificate was loaded from. It lies beside the model if it is the
 *             path of the model, as it was opened, with ".cert" added
 * Fails with TEM_ERR_CERTIFICATE if neither holds, or as tem_trust_has does. */
TEM_API tem_status tem_certificate_trust(const tem_certificate_info *certificate,
                                         const tem_model *model, const char *path,
                                         tem_error *error);

/* Callback of tem_trust_verify for each thing that it has verified, called from the thread that
 * called tem_trust_verify.
 *   certificate   which certificate. NULL: the model; or a file of certificates that cannot be
 *                 read, which failure->file names; or the accountant for the certificates, which
 *                 could not be made (tem_accountant_create)
 *   failure       why it does not hold; NULL: it holds */
typedef void tem_verified_fn(void *context, const tem_certificate_info *certificate,
                             const tem_error *failure);

/* A field of 0 or NULL means the default. */
typedef struct tem_verification {
    const char *certificates; /* the file of the model's certificates; it need not exist */
    tem_verified_fn *told;
    void *told_context;
    uint64_t reserved[4]; /* must be 0 */
} tem_verification;

/* Verifies a model, then its certificates, and changes the user's list accordingly:
 *  - if the model holds and was opened from a file, the call adds its hash;
 *  - it adds each certificate that holds, as soon as that is known;
 *  - if the model does not hold, it removes the hash that the file claims, the hash that the
 *    content has, and all its certificates;
 *  - it removes a certificate that does not hold. A certificate for another model is a failure, but
 *    stays in the list if it is there.
 * If the call could not read a model or certificate, or was canceled before its result, it does
 * not remove that hash. If only the list could not be changed, the call returns TEM_OK and
 * `unnoted` says why; the model is then trusted in this process.
 *   how       NULL: all defaults
 *   unnoted   receives why the list could not be changed, or the status TEM_OK; may be NULL
 * Fails as tem_model_verify, tem_accountant_create, tem_certificate_load and tem_certificate_verify
 * do, with the first failure. Cost: that of these. */
TEM_API tem_status tem_trust_verify(tem_model *model, const tem_verification *how,
                                    const tem_run *run, tem_error *unnoted, tem_error *error);

/* --------------------------------------------------------------- tuning -- */

/* One of several kernels computes distances: "scalar", "avx2", "avx512", "avx512vnni", and in
 * WebAssembly "simd128". All give the same bits. The library chooses the best kernel that the
 * machine can run. */

/* The kernel in use. Static string. Any thread. */
TEM_API const char *tem_kernel_name(void);

/* The i-th kernel of this build, from 0, best last; NULL beyond. Unless available is NULL,
 * *available receives whether this machine can run the kernel. Any thread. */
TEM_API const char *tem_kernel_at(unsigned i, int *available);

/* Uses this kernel from now on; for tests and measurements. Fails with TEM_ERR_ARGUMENT (no such
 * kernel) or TEM_ERR_UNSUPPORTED. Call it before any other thread uses the library. */
TEM_API tem_status tem_kernel_force(const char *name, tem_error *error);

#ifdef __cplusplus
}
#endif
#endif
