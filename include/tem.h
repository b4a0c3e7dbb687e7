/* tem.h - the public interface of libtem, and its specification.
 *
 * tem replaces words by words drawn from a distribution with a proved guarantee:
 * word-level metric differential privacy, by the Truncated Exponential Mechanism
 * (TEM; Carvalho, Vasiloudis, Feyisetan 2021). Integers from the model file to the
 * drawn word: the law that is proved is the law that is drawn.
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
 *  - A function that can fail returns a tem_status, TEM_OK being 0. When it
 *    fails, its outputs are untouched and *error tells why. `error` may be NULL.
 *  - NULL: the comment of a function names the arguments that may be NULL; an array may be NULL if
 *    its count is 0. For any other NULL the
 *    function returns TEM_ERR_ARGUMENT. A function without a status then answers with nothing: 0,
 *    NULL, NaN, "unknown", TEM_NO_WORD, a distance of UINT32_MAX, or an info of zeros in which what
 *    a word can cost is infinite. tem_job_why_not_private answers that nothing is known.
 *  - Objects are opaque. What a call hands out through a `tem_x **` belongs to
 *    the caller, who frees it with tem_x_free; tem_x_free(NULL) does nothing.
 *  - Structs can grow. A struct that the caller allocates ends in fields called `reserved`. In
 *    options they must be 0: start with {0} or with designated initialisers. A call refuses other
 *    values with TEM_ERR_ARGUMENT, because they stand for an option of a newer tem. In results the
 *    library sets them to 0. In a field of options 0 or NULL means the default, unless the field's
 *    comment says otherwise.
 *  - Enums can grow: a newer library may return values that this header does not name.
 *  - Messages count words, lines, bytes and records from 1. Ids of words and indices of lists,
 *  which
 *    are arguments and results, start at 0.
 *  - A tem_model, tem_vectors, tem_mechanism or tem_law is frozen once made (whether a
 *    model is trusted may change, atomically): any
 *    number of threads may use one at the same time, without locks. A tem_rng
 *    belongs to one thread at a time. Freeing is for one thread, when no other
 *    uses the object.
 *  - Words are bytes, valid UTF-8, without NUL, tab or line end. They are
 *    neither folded nor normalised here. Lengths are in bytes.
 *  - Distances are integers: a tem_dist counts steps of 2^-16.
 *  - The library never prints, but for one line before it ends the program because the kernel
 *    gives no random bytes (tem_rng_create). It opens no file but those it is given, a temporary
 *    file beside one that it writes, its folder, and what tem_trust_* name.
 *  - A call that takes a tem_run can be stopped: by its progress callback, which it asks several
 *    times a second, whether it works or waits for a pipe, a lock or a slow reader.
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
 * `header`: 1 or 0. It can if it is not older and its major number is the same; before 1.0.0 the
 * minor number must be the same, too. tem_version_check() asks for the header at hand. Any
 * thread. */
TEM_API int tem_version_is_compatible(uint32_t header);
#define tem_version_check() tem_version_is_compatible(TEM_VERSION_NUMBER)

/* ------------------------------------------------------------- outcomes -- */

typedef enum tem_status {
    TEM_OK = 0,
    TEM_ERR_ARGUMENT = 1,     /* the call itself is wrong: NULL, out of range */
    TEM_ERR_MEMORY = 2,       /* an allocation failed */
    TEM_ERR_FILE = 3,         /* the system refused to open, read, map or write */
    TEM_ERR_EXISTS = 4,       /* the file to write is there already */
    TEM_ERR_FORMAT = 5,       /* a file's content is not what was expected */
    TEM_ERR_VERSION = 6,      /* a file of a newer or older format */
    TEM_ERR_DAMAGED = 7,      /* a model file, ledger or certificate that contradicts itself */
    TEM_ERR_RANGE = 8,        /* values that the exact grid cannot hold */
    TEM_ERR_METRIC = 9,       /* the distances are no metric */
    TEM_ERR_UNSUPPORTED = 10, /* this machine cannot do it */
    TEM_ERR_CANCELLED = 11,   /* the progress callback asked to stop */
    TEM_ERR_BUDGET = 12,      /* the budget does not suffice */
    TEM_ERR_CERTIFICATE = 13, /* no certificate, or one that does not hold */
    TEM_ERR_UNTRUSTED = 14    /* a model that nobody here has built or verified; or the user's list
                               * of such is not theirs alone */
} tem_status;

/* What went wrong, in the caller's memory. `message` says what was expected and
 * what was found; it never contains a word of a text or of a vocabulary. */
typedef struct tem_error {
    tem_status status;
    int os_error;         /* errno of the call that failed, or 0 */
    uint64_t line;        /* line, row or document, counted from 1; 0: none */
    uint64_t byte;        /* byte of the file or text, counted from 1; 0: none */
    char file[256];       /* the file, as it was named; cut if longer; or "" */
    char message[256];    /* one sentence without its final period */
    uint64_t reserved[4]; /* 0 */
} tem_error;

/* The name of a status, such as "format". Static string; "unknown" for an invalid
 * value. Any thread. And back: TEM_ERR_ARGUMENT for other names. */
TEM_API const char *tem_status_name(tem_status status);
TEM_API tem_status tem_status_parse(const char *name, tem_status *status, tem_error *error);

/* --------------------------------------------------------- long calls -- */

/* Told how far a long call has come; must be quick: it may be called thousands of
 * times a second, and is called several times a second also where nothing moves. stage: what is
 * being done, a static string such as "reading"; done, total: in units of the stage, done <= total,
 * or total 0 where it is not known.
 * Called only from the thread that made the long call. Returning non-zero stops the
 * call, which then fails with TEM_ERR_CANCELLED. */
typedef int tem_progress_fn(void *context, const char *stage, uint64_t done, uint64_t total);

/* How a long call runs. Wherever one is taken, NULL means all defaults. */
typedef struct tem_run {
    unsigned threads;          /* at most this many; 0: one per processor */
    tem_progress_fn *progress; /* or NULL */
    void *progress_context;
    uint64_t reserved[4]; /* must be 0 */
} tem_run;

/* -------------------------------------------------------------- metrics -- */

/* Steps of 2^-16. The distance of two words is exact for the vectors as they
 * are stored, rounded up: that is a metric again. */
typedef uint32_t tem_dist;
#define TEM_DIST_ONE 65536u

typedef enum tem_metric {
    TEM_EUCLIDEAN = 1, /* exact integers, rounded up once */
    TEM_ANGULAR = 2,   /* the angle in radians, plus one step between unequal vectors */
    TEM_L1 = 3,        /* sum of absolute differences, exact */
    TEM_LINF = 4,      /* largest absolute difference, exact */
    TEM_MATRIX = 5     /* distances that the user gave, pair by pair */
} tem_metric;

/* The metric called `name`: "euclidean", "angular", "l1" or "linf". Fails with
 * TEM_ERR_METRIC for "cosine" (1 - cosine breaks the triangle inequality, so no
 * guarantee can rest on it) and TEM_ERR_ARGUMENT for other names. Any thread. */
TEM_API tem_status tem_metric_parse(const char *name, tem_metric *metric, tem_error *error);

/* The name of a metric; static string, "unknown" for an invalid value. */
TEM_API const char *tem_metric_name(tem_metric metric);

/* The name of the i-th metric, from 0; NULL beyond the last. *metric and *meaning, unless NULL,
 * receive its number and one line that says what it measures. Static strings. Any thread. */
TEM_API const char *tem_metric_at(unsigned i, tem_metric *metric, const char **meaning);

/* -------------------------------------------------------------- vectors -- */

/* Words with a vector each, as read from a file or given by the caller. */
typedef struct tem_vectors tem_vectors;

#define TEM_DIMENSION_MAX 4096u
#define TEM_WORDS_MAX 0x7fffffffu
#define TEM_WORD_BYTES_MAX 4096u

/* Reads an embedding file: GloVe text, word2vec text or binary, fastText .vec,
 * or tem's own .temv (docs/FORMAT.md), plain or gzip, recognised by content.
 *   path       the file; "-" is standard input
 *   limit      read only the first `limit` words; 0: all
 *   run        threads and progress; NULL: defaults
 *   vectors    receives the object; free with tem_vectors_free
 * Fails with TEM_ERR_ARGUMENT (a limit of 1), TEM_ERR_FILE, TEM_ERR_MEMORY,
 * TEM_ERR_CANCELLED, or TEM_ERR_FORMAT with the line (text) or byte (binary) for: an empty file, a
 * row with the wrong number of columns, a number that is none, NaN or infinite, a word that
 * is empty, longer than TEM_WORD_BYTES_MAX, not UTF-8 or equal to an earlier
 * one, fewer or more rows than the header says, a file cut short, words of more than
 * 4 GiB together.
 * Memory: 4 bytes a value, and the whole text while it is read from a pipe or
 * unpacked, also with a limit: a small gzip file may unpack to a large text. A plain
 * file is mapped. */
TEM_API tem_status tem_vectors_load(const char *path, uint64_t limit, const tem_run *run,
                                    tem_vectors **vectors, tem_error *error);

/* Takes vectors from memory; everything is copied.
 *   words      `count` strings, NUL-terminated, all different
 *   values     count * dimension finite numbers, row by row
 *   count      2 to TEM_WORDS_MAX;  dimension  1 to TEM_DIMENSION_MAX
 * Fails with TEM_ERR_ARGUMENT, TEM_ERR_MEMORY, or TEM_ERR_FORMAT with `line` =
 * row + 1 for a word or number that is refused as in tem_vectors_load. */
TEM_API tem_status tem_vectors_create(const char *const *words, const float *values, uint32_t count,
                                      uint32_t dimension, tem_vectors **vectors, tem_error *error);

/* Number of words; numbers per word; and the format that was read, a static
 * string such as "GloVe text". Any thread. */
TEM_API uint32_t tem_vectors_count(const tem_vectors *vectors);
TEM_API uint32_t tem_vectors_dimension(const tem_vectors *vectors);
TEM_API const char *tem_vectors_format(const tem_vectors *vectors);

TEM_API void tem_vectors_free(tem_vectors *vectors);

/* --------------------------------------------------------------- models -- */

/* A vocabulary, its distances and its index: everything that is public and that
 * the mechanisms draw from. */
typedef struct tem_model tem_model;

#define TEM_NEIGHBOURS_DEFAULT 256u
#define TEM_MATRIX_WORDS_MAX 32768u
#define TEM_NO_WORD UINT32_MAX

/* What to build. NULL, or a field of 0, means the default. */
typedef struct tem_build_options {
    tem_metric metric;    /* default TEM_EUCLIDEAN; TEM_MATRIX has its own call */
    uint32_t neighbours;  /* length of each word's list, itself included; default
                          * TEM_NEIGHBOURS_DEFAULT; more than the words there are: all.
                          * The first 64th of the words, which in most files are the
                          * frequent ones, get 16 times as many */
    int allow_coarse;     /* 1: also where rounding changes distances by more than
                          * TEM_GRID_REFUSED_PERCENT (tem_model_check_grid) */
    uint64_t reserved[4]; /* must be 0 */
} tem_build_options;

/* Rounds the vectors to the grid and finds every word's nearest neighbours,
 * exactly: ordered by (distance, id), ties included, whatever the machine or
 * the number of threads.
 * The grid: int16 within +-16383 in steps of 2^-q, the largest q from 4 to 30
 * that fits. For TEM_ANGULAR each vector is first scaled to length 1.
 * Fails with TEM_ERR_ARGUMENT, TEM_ERR_MEMORY, TEM_ERR_CANCELLED, or
 * TEM_ERR_RANGE: values too large for the grid, vectors so long that two of them could
 * be 2^16 apart, a zero vector under TEM_ANGULAR, a grid that is too coarse for the distances
 * of the words (tem_model_check_grid), unless that is allowed.
 * Cost: n^2/2 distances; memory about n * (row + 15 * neighbours) bytes. */
TEM_API tem_status tem_model_build(const tem_vectors *vectors, const tem_build_options *options,
                                   const tem_run *run, tem_model **model, tem_error *error);

/* The distance of words a != b, by their place in the list: finite, >= 0,
 * within 2^-16/3 of a true metric; 0 only where two words are the same point, and then
 * their distances to every other word are the same numbers. */
typedef double tem_distance_fn(void *context, uint32_t a, uint32_t b);

/* A model over the caller's own metric. Each pair is asked for once in each
 * order, from the calling thread, and frozen as an integer: rounded up, plus
 * one step where it is not 0. Then the model needs the function no more.
 *   words, count   as in tem_vectors_create; count <= TEM_MATRIX_WORDS_MAX
 *   distance       the function; context is handed to it
 *   neighbours     as in tem_build_options; 0: the default
 * The guarantee holds only if the function is a metric. Checked: symmetry for
 * all pairs; that words at distance 0 have the same distances to all others; and the
 * triangle inequality for all triples up to 400 words, for four million of them
 * beyond. The last is evidence, not proof, and tem_model_info says so.
 * Fails with TEM_ERR_METRIC (asymmetric, or a triangle broken), TEM_ERR_RANGE
 * (negative, not finite, 65535 or more), or as tem_model_build does. */
TEM_API tem_status tem_model_build_function(const char *const *words, uint32_t count,
                                            tem_distance_fn *distance, void *context,
                                            uint32_t neighbours, const tem_run *run,
                                            tem_model **model, tem_error *error);

/* The same from a full matrix: distances[a * count + b]; the diagonal is 0. */
TEM_API tem_status tem_model_build_matrix(const char *const *words, uint32_t count,
                                          const double *distances, uint32_t neighbours,
                                          const tem_run *run, tem_model **model, tem_error *error);

typedef enum tem_overwrite { TEM_KEEP_EXISTING = 0, TEM_OVERWRITE = 1 } tem_overwrite;

/* Writes the model to `path`: into a temporary file beside it, flushed to the
 * disk, then renamed. Whatever happens, `path` is the old file, or none, or the
 * whole new one (also after a failure, if only the flushing of its folder failed).
 * A file that is overwritten keeps its permissions. With TEM_KEEP_EXISTING a file that is there
 * fails with TEM_ERR_EXISTS. Fails with TEM_ERR_FILE, TEM_ERR_MEMORY, TEM_ERR_CANCELLED. */
TEM_API tem_status tem_model_save(const tem_model *model, const char *path, tem_overwrite overwrite,
                                  const tem_run *run, tem_error *error);

/* Maps a model file for reading. The file is not trusted: its header and section
 * table are checked here, a list when it is first asked for, so no file can make
 * the library read outside it. Its hashes are NOT checked: tem_model_check does
 * that. The model can be looked at; tem_mechanism_create and tem_accountant_create refuse it
 * until it is trusted (tem_model_trust). The file must not be changed in place while it is open;
 * replacing it, as tem_model_save does, is safe.
 * Fails with TEM_ERR_FILE, TEM_ERR_MEMORY, TEM_ERR_FORMAT (no model),
 * TEM_ERR_VERSION, TEM_ERR_DAMAGED. Cost: milliseconds, whatever the size. */
TEM_API tem_status tem_model_open(const char *path, tem_model **model, tem_error *error);

/* Which file to open when no model is named: the one that $TEM_MODEL names, whether it is there or
 * not; else the first that is there of default.tem and ../share/tem/default.tem in each of
 * `folders`, such as that of the program.
 *   path, path_bytes   receives the name, NUL-terminated
 *   is_own    receives 1 if it was found in a folder: nobody named it, it came with the program,
 *             and so did the certificates beside it (tem_model_trust_own); 0 if $TEM_MODEL names it
 * Fails with TEM_ERR_FILE (there is none), TEM_ERR_RANGE (the name is too long) or
 * TEM_ERR_ARGUMENT. */
TEM_API tem_status tem_model_find_default(const char *const *folders, size_t count, char *path,
                                          size_t path_bytes, int *is_own, tem_error *error);

/* Compares every section of an open file with its hash, and the space between
 * the sections with zero; and looks at every word, that it is UTF-8 without NUL, tab
 * or line end. Fails with TEM_ERR_DAMAGED, naming the section. A
 * model that was built in this process and not opened passes. Cost: reads the
 * whole file, about 1 GB/s a processor. */
TEM_API tem_status tem_model_check(const tem_model *model, const tem_run *run, tem_error *error);

/* tem_model_check, and then everything recomputed that the file's vectors or matrix
 * determine: the word table, every distance of every list, every list and bound against
 * all pairs of words. How far these vectors are from those the model was built from
 * (`deviation`) is the builder's claim, which the file cannot prove.
 * A model that passes is trusted in this process from then on; one that fails is not.
 * tem_trust_verify does the same for the user, for good.
 * Fails with TEM_ERR_DAMAGED, TEM_ERR_MEMORY, TEM_ERR_CANCELLED. Cost: as tem_model_build. */
TEM_API tem_status tem_model_verify(tem_model *model, const tem_run *run, tem_error *error);

/* Trust. The lists and bounds of a model decide what is drawn. Whether a matrix is a metric decides
 * what can be proved. Whoever can write a file can make these up, and write hashes that fit. So
 * tem_mechanism_create and tem_accountant_create take a model only if it is trusted:
 *  - it was built in this process;
 *  - or tem_model_verify has recomputed it in this process;
 *  - or tem_model_trust has found its hash in the user's list, or the caller has named its hash;
 *  - or the caller has said that it came with the program (tem_model_trust_own).
 * Any thread may call these. */

/* Whether the model is trusted: 1 or 0. */
TEM_API int tem_model_is_trusted(const tem_model *model);

/* Trusts an open model if somebody has vouched for its content. Calls tem_model_check first, so the
 * hash that counts is the hash of the bytes in memory. A model that is trusted already stays
 * trusted at no cost, unless a hash is named.
 *   hash     64 digits, as tem_model_hash has them: trust the model with this hash and no other.
 *            Take the hash from somebody who has built or verified the model, not from the file.
 *            NULL: trust a model that this user has built or verified (tem_trust_has)
 * Fails with TEM_ERR_UNTRUSTED (another hash; not in the list; or as tem_trust_has does),
 * TEM_ERR_DAMAGED, TEM_ERR_ARGUMENT (an invalid hash; a hash for a model that is not from a file),
 * TEM_ERR_FILE, TEM_ERR_MEMORY, TEM_ERR_CANCELLED. Cost: that of tem_model_check. */
TEM_API tem_status tem_model_trust(tem_model *model, const char *hash, const tem_run *run,
                                   tem_error *error);

/* Trusts a model because of its place: tem_model_find_default found it beside the program (is_own).
 * Compares nothing with the hashes; tem_model_check does. The certificates beside it came with the
 * program, too (tem_certificate_trust). */
TEM_API void tem_model_trust_own(tem_model *model);

/* The whole rule, for a program that has opened a model for its user:
 *  - if the user names a hash, the model with this hash and no other is trusted (tem_model_trust);
 *  - else a model that came with the program is compared with its hashes and trusted
 *    (tem_model_check, tem_model_trust_own);
 *  - else the user must have built or verified it (tem_model_trust).
 *   hash     as in tem_model_trust; NULL: the user names none
 *   is_own   as tem_model_find_default tells it; 0 if the user names the file
 * Fails as tem_model_trust does: with TEM_ERR_UNTRUSTED and the file of the model if nobody vouches
 * for the model. The program then says how to verify it. */
TEM_API tem_status tem_model_accept(tem_model *model, const char *hash, int is_own,
                                    const tem_run *run, tem_error *error);

/* The hash of a model, computed from all its content in memory: the hash of its file, or of the
 * file that tem_model_save would write. Whoever has built the model gives it to tem_trust_add.
 *   hash     receives 64 digits and a NUL
 * Fails with TEM_ERR_ARGUMENT, TEM_ERR_CANCELLED, TEM_ERR_RANGE (too large for a file). Cost:
 * about 1 GB/s a processor. */
TEM_API tem_status tem_model_hash(const tem_model *model, const tem_run *run, char hash[65],
                                  tem_error *error);

TEM_API void tem_model_free(tem_model *model);

typedef struct tem_model_info {
    uint32_t words;     /* n */
    uint32_t dimension; /* 0 under TEM_MATRIX */
    tem_metric metric;
    uint32_t step_log2;       /* q: vectors are stored in steps of 2^-q */
    uint32_t neighbours;      /* length of the lists, as in tem_build_options */
    tem_dist deviation;       /* no distance is further than this from that of the vectors given */
    uint64_t triangles;       /* TEM_MATRIX: triples that were checked, as the file says; else 0 */
    int triangles_exhaustive; /* TEM_MATRIX: 1 if these are all triples there are. Nothing is proved
                               * by it: a tem_accountant checks again */
    uint64_t file_bytes;      /* 0 for a model that was not opened from a file */
    char hash[65];        /* of all the file holds, in hex, as the file says; "" if not from one */
    uint64_t reserved[8]; /* 0 */
} tem_model_info;

/* Fills *info. Any thread. */
TEM_API void tem_model_get_info(const tem_model *model, tem_model_info *info);

/* The median over the words of the distance to the nearest word at another point, exact; of an even
 * number the lower one. Words at the same point, such as duplicates, are passed over. But in a
 * model that was built in this process, a word that rounding has put on the point of another, more
 * than 2^-17 away by the vectors given, counts with 0; a file no longer tells.
 *   median    receives it; 0 if all words are at one point
 * Fails with TEM_ERR_ARGUMENT, TEM_ERR_MEMORY or TEM_ERR_DAMAGED. Any thread. Cost: one look at
 * each list. */
TEM_API tem_status tem_model_nearest_median(const tem_model *model, tem_dist *median,
                                            tem_error *error);

/* Whether the grid is fine enough for the words: TEM_ERR_RANGE if `deviation` is above this many
 * per cent of tem_model_nearest_median. Then epsilon, which is per unit of the model's distances,
 * is not what it would be per unit of those that were given. The message has the numbers and the
 * remedy, and names words that stand out by their place, from 1: one large value makes the grid
 * coarse for all words. tem_model_build refuses with TEM_GRID_REFUSED_PERCENT; callers should warn
 * with TEM_GRID_WARNED_PERCENT. Fails also as tem_model_nearest_median does. Any thread. */
TEM_API tem_status tem_model_check_grid(const tem_model *model, uint32_t percent, tem_error *error);
#define TEM_GRID_WARNED_PERCENT 1u
#define TEM_GRID_REFUSED_PERCENT 50u

/* The word with this id, which must be below the number of words; *length
 * receives its bytes, and may be NULL. Not NUL-terminated; lives as long as the model. For an id
 * out of range, or a damaged file, NULL and a length of 0. Any thread. O(1). */
TEM_API const char *tem_model_word(const tem_model *model, uint32_t id, size_t *length);

/* The id of a word, or TEM_NO_WORD. Any thread. O(1) on average. */
TEM_API uint32_t tem_model_find(const tem_model *model, const char *word, size_t length);

/* The exact distance of two words, whose ids must be below the number of words
 * (else UINT32_MAX). Any thread. O(dimension). */
TEM_API tem_dist tem_model_distance(const tem_model *model, uint32_t a, uint32_t b);

/* The vector of a word as it is stored: whole steps of 2^-q, exact as floats.
 *   out       receives tem_model_info's `dimension` numbers
 * The default model and all of .temv may be rotated: distances are those of the source, single
 * numbers are not. Fails with TEM_ERR_ARGUMENT (id out of range) or TEM_ERR_UNSUPPORTED (TEM_MATRIX
 * has no vectors). Any thread. O(dimension). */
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

/* The nearest words of a word. The word itself is among them, at distance 0,
 * unless `count` other words are equal to it and have smaller ids.
 * Fails with TEM_ERR_ARGUMENT (id out of range) or TEM_ERR_DAMAGED. Any thread.
 * O(count) on first use of a word's list, then O(1). */
TEM_API tem_status tem_model_neighbours(const tem_model *model, uint32_t id,
                                        tem_neighbours *neighbours, tem_error *error);

/* ----------------------------------------------------------- randomness -- */

/* A source of random bits, for one thread at a time. */
typedef struct tem_rng tem_rng;

/* ChaCha20 (libsodium), keyed by the kernel; keys and used bits are erased as it
 * goes; after fork() a child is keyed anew. If the kernel cannot give entropy the
 * program is ended, after one line on stderr that says so: there is nothing safe to go on
 * with. Fails with TEM_ERR_MEMORY.
 * Free with tem_rng_free. */
TEM_API tem_status tem_rng_create(tem_rng **rng, tem_error *error);

/* The same stream for the same (seed, stream), every time. For tests and
 * experiments only: what is drawn from it is NOT private. */
TEM_API tem_status tem_rng_create_insecure(uint64_t seed, uint64_t stream, tem_rng **rng,
                                           tem_error *error);

/* 1 for tem_rng_create's, 0 for an insecure one. */
TEM_API int tem_rng_is_private(const tem_rng *rng);

/* Erases the key and frees. */
TEM_API void tem_rng_free(tem_rng *rng);

/* ----------------------------------------------------------- mechanisms -- */

/* A way of drawing a word for a word, with all its parameters. */
typedef struct tem_mechanism tem_mechanism;

/* What a mechanism claims about the words that it draws. */
typedef enum tem_guarantee {
    TEM_GUARANTEE_NONE = 0,  /* nothing */
    TEM_GUARANTEE_IDEAL = 1, /* what its paper proves for ideal real numbers; the floating point
                              * that draws is outside the proof, so nothing is charged for it */
    TEM_GUARANTEE_EXACT = 2  /* metric differential privacy in the model's metric, for the
                              * integers that are drawn, unknown words included */
} tem_guarantee;

/* What a mechanism is, before it is made. Static strings. */
typedef struct tem_mechanism_properties {
    const char *name;    /* as users write it, such as "tem" */
    const char *summary; /* one line for help texts */
    const char *claim;   /* the guarantee as one sentence; NULL if there is none */
    const char *caveat;  /* why no bound holds for what it draws; NULL if one does */
    tem_guarantee guarantee;
    int has_law;           /* 1: tem_law, tem_mechanism_self and an accountant can speak about it */
    int takes_gamma;       /* 1: beta or gamma may be given */
    int takes_weights;     /* 1: output weights may be given */
    int takes_certificate; /* 1: s, gamma and weights may come from a certificate */
    int needs_vectors;     /* 1: the model must have euclidean vectors */
} tem_mechanism_properties;

/* The i-th mechanism, from 0; NULL beyond the last. "tem", "em" and "madlib" are always among
 * them. Static. Any thread. */
TEM_API const tem_mechanism_properties *tem_mechanism_at(unsigned i);

#define TEM_BETA_DEFAULT 0.001

/* A field of 0 means the default; epsilon has none. */
typedef struct tem_mechanism_options {
    const char *mechanism;   /* a name of tem_mechanism_at; NULL: "tem" */
    double epsilon;          /* per unit of distance; finite, above 0 */
    double beta;             /* TEM: gamma is chosen so that, with equal weights, the output is
                              * within gamma with probability 1 - beta; default TEM_BETA_DEFAULT */
    double gamma;            /* TEM: gamma itself, instead of beta */
    const uint32_t *weights; /* TEM, EM: how often each word is an output, one number a word,
                              * not all 0; copied; NULL: all equal. The same for every input, so
                              * no guarantee depends on them; they must be public */
    const struct tem_certificate *certificate; /* TEM: s, gamma and weights are this
                              * certificate's, which must be for this model and epsilon; beta,
                              * gamma and weights must be as they were for it, or 0 and NULL.
                              * That it holds is not computed anew (tem_certificate_verify):
                              * whether to trust it, tem_certificate_trust tells. Needed only during
                              * the call */
    uint64_t reserved[8];                      /* must be 0 */
} tem_mechanism_options;

/* Makes a mechanism over a model, which must live as long as the mechanism.
 *
 * TEM and EM: with s = (floor(2^19 epsilon) - 1) / 2^20, gamma rounded up to steps of
 * 2^-16, d the model's distance and a the weights,
 *     P(y | w) = a_y exp(-s min(d(w,y), gamma)) / Z(w)
 * up to a relative 2^-99, which s has room for, so that for all words w, w', y
 *     P(y | w) <= exp(epsilon min(d(w,w'), gamma)) P(y | w').
 * An unknown word counts as one at distance gamma from every word: P(y) = a_y / A.
 * Fails with TEM_ERR_UNTRUSTED (a model that is not trusted),
 * TEM_ERR_ARGUMENT (both beta and gamma, or either where it has no meaning),
 * TEM_ERR_RANGE (epsilon or gamma not positive or beyond the integers above, s gamma
 * beyond 64, all weights 0), TEM_ERR_CERTIFICATE (one for another model, epsilon, beta or
 * gamma), TEM_ERR_UNSUPPORTED (Madlib without vectors),
 * TEM_ERR_DAMAGED (lists of the model that overlap), TEM_ERR_MEMORY. Cost: O(words). The
 * first draw for a word has it keep 64 bytes, and 4 for each word of its list. */
TEM_API tem_status tem_mechanism_create(const tem_model *model,
                                        const tem_mechanism_options *options,
                                        tem_mechanism **mechanism, tem_error *error);
TEM_API void tem_mechanism_free(tem_mechanism *mechanism);

/* How likely each word is as an output, before the input word counts. */
typedef enum tem_weights_kind {
    TEM_WEIGHTS_EQUAL = 1,    /* all 1: the paper's mechanism */
    TEM_WEIGHTS_BALANCED = 2, /* of a certificate: Z is the same for all words, so nearly all of
                               * epsilon is s */
    TEM_WEIGHTS_TUNED = 3,    /* of a certificate: the least expected distance under a prior */
    TEM_WEIGHTS_OWN = 4       /* the caller's, in tem_mechanism_options; never a certificate's */
} tem_weights_kind;

/* "equal", "balanced", "tuned", "own", and back for the first three, which a user can choose:
 * TEM_ERR_ARGUMENT for other names. */
TEM_API const char *tem_weights_name(tem_weights_kind kind);
TEM_API tem_status tem_weights_parse(const char *name, tem_weights_kind *kind, tem_error *error);

typedef struct tem_mechanism_info {
    const tem_mechanism_properties *properties;
    double epsilon;
    double beta;          /* what gamma was made from; 0 if it was not */
    uint64_t s_steps;     /* s in steps of 2^-20: exactly what is sampled; 0 for Madlib */
    double s;             /* the same as a number */
    tem_dist gamma_steps; /* gamma in steps of 2^-16; 0 for Madlib */
    double gamma;
    double epsilon_gamma; /* the most that one word can cost: local differential privacy.
                            * Infinity for Madlib */
    double moved_mass;    /* EM: no probability differs from the untruncated mechanism's by
                            * more than this; else 0 */
    tem_weights_kind weights;
    char certificate[65]; /* hash of the certificate that s comes from, in hex, or "" */
    uint64_t reserved[8]; /* 0 */
} tem_mechanism_info;

/* Fills *info. Any thread. O(words) for EM, else O(1). */
TEM_API void tem_mechanism_get_info(const tem_mechanism *mechanism, tem_mechanism_info *info);

/* The output weights, one a word, or NULL if they are all equal; live as long as the mechanism. */
TEM_API const uint32_t *tem_mechanism_weights(const tem_mechanism *mechanism);

/* Draws the output for `word`, an id of the model, or TEM_NO_WORD for a word that it
 * does not have. *out receives an id of the model.
 * Fails with TEM_ERR_ARGUMENT (id out of range) or TEM_ERR_DAMAGED (the model
 * contradicts itself); then *out is untouched and nothing must be released.
 * Any thread, each with its own rng. The time a draw takes depends on the word. */
TEM_API tem_status tem_mechanism_draw(const tem_mechanism *mechanism, tem_rng *rng, uint32_t word,
                                      uint32_t *out, tem_error *error);

/* The same for `count` words at once. On failure `out` holds unspecified ids, none of
 * which must be released. words and out may be the same array. */
TEM_API tem_status tem_mechanism_draw_many(const tem_mechanism *mechanism, tem_rng *rng,
                                           const uint32_t *words, uint32_t *out, size_t count,
                                           tem_error *error);

/* ----------------------------------------------------------------- text -- */

/* A text is UTF-8. It is taken to NFC and case-folded, cut at Unicode's word boundaries
 * (UAX #29), and every word is replaced: by a draw of the mechanism, or by a policy that
 * was asked for by name. Words come out separated by single spaces, in one line; case,
 * spacing, line ends and, unless asked for, punctuation do not come back.
 *
 * The rule: what comes out for a text or a field depends on the draws, on the options and on the
 * number of its pieces, and on nothing else of it but the pieces that an option releases. That
 * number is public. src/text/pieces.h says how pieces are found. */

/* What becomes of a word that the vocabulary does not have. */
typedef enum tem_oov {
    TEM_OOV_UNIFORM = 1, /* the default: drawn by weight from all words, as the guarantee has it */
    TEM_OOV_DROP = 2,    /* left out: tells that there was such a word by its absence */
    TEM_OOV_MASK = 3,    /* "<unk>": tells where there was one */
    TEM_OOV_KEEP_UNSAFE = 4 /* released as it is: NO privacy for unknown words */
} tem_oov;

/* What becomes of a piece without letter or digit. */
typedef enum tem_punctuation {
    TEM_PUNCTUATION_DROP = 1, /* the default: left out */
    TEM_PUNCTUATION_KEEP = 2, /* released as it is */
    TEM_PUNCTUATION_WORD = 3  /* a word like any other */
} tem_punctuation;

/* A field of 0 means the default. */
typedef struct tem_text_options {
    tem_oov oov;
    tem_punctuation punctuation;
    int strip_tags; /* 1: leave out HTML tags, such as <br />; each counts as a space */
    int keep_lines; /* 1: as many lines as the text has, parted by LF, which makes the number of
                     * pieces in each of them public; a line ends in LF or CR LF. 0: one line */
    uint64_t reserved[4]; /* must be 0 */
} tem_text_options;

/* "uniform", "drop", "mask", "keep-unsafe"; "drop", "keep", "word"; and back:
 * TEM_ERR_ARGUMENT for other names. */
TEM_API const char *tem_oov_name(tem_oov oov);
TEM_API tem_status tem_oov_parse(const char *name, tem_oov *oov, tem_error *error);
TEM_API const char *tem_punctuation_name(tem_punctuation punctuation);
TEM_API tem_status tem_punctuation_parse(const char *name, tem_punctuation *punctuation,
                                         tem_error *error);

/* What was done. A function of the private text: for its owner only. */
typedef struct tem_counts {
    uint64_t documents;
    uint64_t words;       /* pieces that are words, unknown ones included */
    uint64_t unknown;     /* of these, not in the vocabulary */
    uint64_t punctuation; /* pieces that are not; under TEM_PUNCTUATION_WORD they are words */
    uint64_t reserved[4]; /* 0 */
} tem_counts;

/* Privatises one document.
 *   options   NULL: all defaults
 *   text      `bytes` bytes; need not end in NUL
 *   run       its callback is asked whether to go on; NULL: nobody is
 *   out       receives the text, NUL-terminated; free with tem_text_free
 *   out_bytes receives its length; counts: if not NULL, added to, not set
 * Fails with TEM_ERR_FORMAT (not UTF-8; `byte` is its first invalid byte), TEM_ERR_RANGE (more than
 * 1 GiB; more than 16 MiB that cannot be divided: one word, or words joined by hyphens; more than
 * 1 MiB of combining marks in a row), TEM_ERR_DAMAGED, TEM_ERR_MEMORY,
 * TEM_ERR_ARGUMENT, TEM_ERR_CANCELLED; then nothing is handed out. Any thread, each with its own
 * rng. Memory: twice the result; the text is looked at in small parts, and with `strip_tags` it is
 * copied once. */
TEM_API tem_status tem_privatize_text(const tem_mechanism *mechanism,
                                      const tem_text_options *options, tem_rng *rng,
                                      const char *text, size_t bytes, const tem_run *run,
                                      char **out, size_t *out_bytes, tem_counts *counts,
                                      tem_error *error);
TEM_API void tem_text_free(char *text);

/* The pieces of a text that are words, as tem_privatize_text takes them: their ids, or
 * TEM_NO_WORD for those the vocabulary does not have.
 *   ids       receives the first `max` of them, unspecified ones on failure; *count the number
 *             of all
 * Fails as tem_privatize_text does. Any thread. */
TEM_API tem_status tem_model_pieces(const tem_model *model, const char *text, size_t bytes,
                                    uint32_t *ids, size_t max, size_t *count, tem_error *error);

/* How many words of the model no text can be taken to: those that folding changes ("ß"
 * becomes "ss") or word boundaries cut. They are outputs like any other, and never an input.
 *   count     receives their number
 * Fails with TEM_ERR_MEMORY or TEM_ERR_DAMAGED. Any thread. Cost: about a microsecond a
 * word. */
TEM_API tem_status tem_model_count_unreachable(const tem_model *model, uint32_t *count,
                                               tem_error *error);

typedef enum tem_format {
    TEM_FORMAT_TEXT = 1, /* each line is a document; the default */
    TEM_FORMAT_TSV = 2,  /* tab-separated, without quoting; the first line names the fields */
    TEM_FORMAT_CSV = 3,  /* RFC 4180; the first record names the fields */
    TEM_FORMAT_JSONL = 4 /* an object a line; the field is a string or null */
} tem_format;

/* The name of a format; static string, "unknown" for an invalid value. And back: TEM_ERR_ARGUMENT
 * for other names. Any thread. */
TEM_API const char *tem_format_name(tem_format format);
TEM_API tem_status tem_format_parse(const char *name, tem_format *format, tem_error *error);

/* The name of the i-th format, from 0; NULL beyond the last. *format, *has_fields and *meaning,
 * unless NULL, receive its number, whether its records have fields, of which one must be named (1
 * or 0), and one line that says how records are written. Static strings. Any thread. */
TEM_API const char *tem_format_at(unsigned i, tem_format *format, int *has_fields,
                                  const char **meaning);

/* What becomes of a field that is null, in JSONL. */
typedef enum tem_missing {
    TEM_MISSING_EMPTY = 1, /* the default: becomes "", and counts as a document of no words */
    TEM_MISSING_KEEP = 2   /* stays null, and is no document: tells that there was no text */
} tem_missing;

/* "empty", "keep"; and back: TEM_ERR_ARGUMENT for other names. */
TEM_API const char *tem_missing_name(tem_missing missing);
TEM_API tem_status tem_missing_parse(const char *name, tem_missing *missing, tem_error *error);

/* What a ledger says once a run is over. Numbers are rounded; the ledger's own are exact. With
 * `by`, spent_before and left are those of the person of this run who has the least left. */
typedef struct tem_balance {
    double spent_before;  /* without this run */
    double spent;         /* charged by this run, over all people; 0 for a dry run */
    double left;          /* of the budget, after this run (for a dry run: if it were one); infinity
                          * without a budget */
    uint64_t people;      /* with `by`: how many people this run is charged to */
    int created;          /* 1: there was no ledger, and one was started */
    uint64_t reserved[4]; /* 0 */
} tem_balance;

/* A run over files, or over texts in memory. A field of 0 or NULL means the default. */
typedef struct tem_job {
    tem_text_options text;
    tem_format format;
    tem_missing missing;
    const char *field;         /* TSV, CSV, JSONL: which field is private; no default */
    const char *const *inputs; /* paths; "-" is standard input, which is the default */
    size_t input_count;
    const char *output; /* a path, which appears when all is done; "-" or NULL:
                                * standard output, on which whole documents appear as they
                                * are done */
    tem_overwrite overwrite;
    int dry_run;         /* 1: read and count, draw and write nothing */
    int insecure_seeded; /* 1: draw from tem_rng_create_insecure(seed, document's number):
                                * the same output for any number of threads. NOT private */
    uint64_t insecure_seed;

    const char *ledger;   /* a file in which what is spent is written down, before it is spent */
    double budget;        /* with a ledger: the most that may be spent, by all runs together */
    const char *by;       /* with a ledger and a field: the field that names people. Each of them
                           * is charged for their own records and has the budget to themselves */
    uint64_t reserved[8]; /* must be 0 */
} tem_job;

/* Why no bound holds for what a run of this job tells about its text: one sentence without its
 * final period, with the remedy; static string. NULL if a bound holds: `spent`, words * epsilon,
 * per unit of distance. Reports, ledgers and budgets call a run private exactly when this is NULL.
 * It is NULL for a mechanism that states a bound (TEM, EM; not Madlib), TEM_OOV_UNIFORM,
 * TEM_PUNCTUATION_DROP or TEM_PUNCTUATION_WORD, and no insecure_seeded. No text decides about it: a
 * policy that may release a piece has no bound, even if this text has no such piece. A dry run is
 * judged as the run that it stands for. Any thread. */
TEM_API const char *tem_job_why_not_private(const tem_mechanism *mechanism, const tem_job *job);

/* Privatises files or a stream of any length, in memory that is bounded by the largest
 * document: at most 6 times its size, as it is read or as it is written, whichever is larger, and
 * some megabytes a thread. A document has at most 1 GiB, a record of TSV, CSV or JSONL 2 GiB;
 * otherwise as in tem_privatize_text. The other fields of a record, and the bytes between fields,
 * stay as they are. How the
 * private field was quoted or escaped does not matter: in CSV it comes out in quotes if the output
 * has a comma, a quote or a line end, or is empty and the only field; in TSV never. Every record
 * comes out with LF at its end, whatever end it had. A byte order mark at the start of an input is
 * left out. Blank lines of TSV, CSV and JSONL are no records and are left out; a blank line of text
 * is a document of no words and comes out as a blank line. Several inputs come out one after the
 * other; those of TSV or CSV must have the same header, which is written once. What other
 * readers might take for other fields (a carriage return alone, a quote that stays open in
 * a field of TSV, a JSON key that is there twice) is refused.
 *
 * With a ledger, what the words cost (epsilon each, in exact decimals of 12 places) is on the disk
 * in that file before the first of them is written anywhere; any number of runs may share a
 * ledger. If all inputs are regular files, they are read twice: counted, and charged at once; if
 * the budget does not suffice nothing is written. Otherwise each batch of documents is
 * charged as it comes, and the run stops before the document that would exceed the budget. A run
 * that fails or is killed after that has spent what it charged, whatever was released.
 * A budget needs a private run (tem_job_why_not_private), a model that was opened from a file, and
 * a ledger whose charges are all private and with this model: epsilon is per unit of its distance.
 * With `by` each record must name a person: by a string that is not empty, in JSON also a whole
 * number; two names are one person if they are the same bytes. The ledger has a hash of the name
 * under a salt of its own. Charges that name nobody, or by another field, count for everybody.
 * A dry run charges nothing, and fails with TEM_ERR_BUDGET if a run would.
 *   counts    receives what was done, also after a failure; or NULL
 *   balance   receives what the ledger says, also after a failure, unless there is no ledger or it
 *             could not be opened; or NULL
 * Fails with TEM_ERR_ARGUMENT, TEM_ERR_FILE, TEM_ERR_EXISTS, TEM_ERR_FORMAT (with file and
 * line: not UTF-8, a broken record, a header without the field, no ledger), TEM_ERR_RANGE,
 * TEM_ERR_DAMAGED (the model or the ledger), TEM_ERR_BUDGET, TEM_ERR_MEMORY,
 * TEM_ERR_CANCELLED. Then a file `output` is not there, or
 * as it was before (or whole, if all that failed was the flushing of its folder, which the
 * message says); on standard output there are whole documents, the first ones, unless it is
 * the writing that failed or was interrupted. */
TEM_API tem_status tem_privatize_files(const tem_mechanism *mechanism, const tem_job *job,
                                       const tem_run *run, tem_counts *counts, tem_balance *balance,
                                       tem_error *error);

/* A text of the caller's own, and whose it is. */
typedef struct tem_text_input {
    const char *text; /* `bytes` bytes of UTF-8; need not end in NUL. NULL: there is no text, which
                         * `missing` of the job decides about */
    size_t bytes;     /* 0 where there is no text */
    const char *person; /* with `by`: who is charged, not empty, need not end in NUL; else NULL */
    size_t person_bytes;
    uint64_t reserved[4]; /* must be 0 */
} tem_text_input;

/* What became of many texts. Frozen once made: any thread. */
typedef struct tem_texts tem_texts;

/* Privatises many texts in memory, over threads: what tem_privatize_files does for the records of a
 * file, text i having the number i. With insecure_seeded the output is, bit for bit, that of a file
 * with the same documents, for any number of threads.
 *   job       NULL: all defaults. `text`, `missing`, `dry_run`, `insecure_seeded`, `insecure_seed`,
 *             `ledger`, `budget` and `by` count; `by` needs no `field`. The fields that are about
 *             files must be 0 or NULL
 *   texts     `count` of them; they stay the caller's
 *   run       threads 0: one for each processor, but no more than the texts have work for; the
 *             callback is told how many texts are done
 *   out       receives the private texts, in the same order; free with tem_texts_free. NULL after a
 *             failure and after a dry run
 *   counts    receives the sum over all texts, 0 after a failure; or NULL
 *   balance   as in tem_privatize_files
 * All or nothing: if one text fails, or the charge does, no text is handed out. With a ledger all
 * texts are charged for at once, after they are drawn and before they are handed out; the charge is
 * on the disk when this returns TEM_OK. A dry run charges nothing and tells whether a run could.
 * Fails as tem_privatize_text and tem_job_charge do. If one text is the reason, the error's `line`
 * is its number, from 1, `byte` a byte of it, and `file` is ""; if several are wrong, any of them.
 * Any thread. Memory: about twice the result, and some megabytes a thread. */
TEM_API tem_status tem_privatize_texts(const tem_mechanism *mechanism, const tem_job *job,
                                       const tem_text_input *texts, size_t count,
                                       const tem_run *run, tem_texts **out, tem_counts *counts,
                                       tem_balance *balance, tem_error *error);

/* The private form of text i, from 0: UTF-8, NUL-terminated, alive until tem_texts_free. *bytes,
 * unless NULL, receives its length. NULL if there was no text and TEM_MISSING_KEEP let that show,
 * or if there is no such text, or texts is NULL. */
TEM_API const char *tem_texts_at(const tem_texts *texts, size_t i, size_t *bytes);
TEM_API void tem_texts_free(tem_texts *texts);

/* What a text of the caller's own costs, and whom. */
typedef struct tem_document {
    tem_counts counts;  /* as tem_privatize_text has counted them, or the sum over many texts */
    const char *person; /* with `by`: who is charged, not empty, need not end in NUL; else NULL */
    size_t person_bytes;
    uint64_t reserved[4]; /* must be 0 */
} tem_document;

/* The same promise for texts that are in no file: charges the ledger of a job for what
 * tem_privatize_text has drawn and nobody has seen yet. Release it when this has returned TEM_OK,
 * and not otherwise; nor after a dry run, which charges nothing and tells whether a run could. Of
 * the job, `text`, `missing`, `dry_run`, `insecure_seeded`, `ledger`, `budget` and `by` count; the
 * first four must be as it was drawn, and `by` needs no `field`. All documents are charged for at
 * once, on the disk when this returns, or none is. With no document the ledger is opened, started
 * if need be, and `balance` filled.
 *   documents   `count` of them
 *   balance     as in tem_privatize_files
 * Fails with TEM_ERR_ARGUMENT (also: no ledger; a person without `by`), TEM_ERR_FORMAT (no ledger;
 * a document without its person), TEM_ERR_RANGE (2^63 words or more), TEM_ERR_FILE,
 * TEM_ERR_DAMAGED, TEM_ERR_BUDGET, TEM_ERR_MEMORY, TEM_ERR_CANCELLED. Any thread. */
TEM_API tem_status tem_job_charge(const tem_mechanism *mechanism, const tem_job *job,
                                  const tem_document *documents, size_t count, const tem_run *run,
                                  tem_balance *balance, tem_error *error);

/* How often `word` stays itself, N_w = P(w | w), to about 12 digits; for choosing and
 * warning. Fails with TEM_ERR_ARGUMENT or TEM_ERR_UNSUPPORTED (Madlib). Cost: a distance
 * for each word of the vocabulary. */
TEM_API tem_status tem_mechanism_self(const tem_mechanism *mechanism, uint32_t word, double *self,
                                      tem_error *error);

/* The same of a usual word: the median of N_w over words that come by Zipf's law, the rank of a
 * word being its place in the model; taken at 49 quantiles of that law. Above TEM_SELF_MEDIAN_LARGE
 * there is nearly no privacy, below TEM_SELF_MEDIAN_SMALL nearly no text left. Fails with
 * TEM_ERR_ARGUMENT or TEM_ERR_UNSUPPORTED (Madlib). Cost: up to 49 times that of
 * tem_mechanism_self. */
TEM_API tem_status tem_mechanism_self_median(const tem_mechanism *mechanism, double *median,
                                             tem_error *error);
#define TEM_SELF_MEDIAN_LARGE 0.95
#define TEM_SELF_MEDIAN_SMALL 0.01

/* -------------------------------------------------------------- reports -- */

/* The format of reports and its version, the value of their first key, "report". docs/FORMAT.md has
 * the keys. A later version of tem may add keys, so readers skip keys that they do not know. If a
 * key ever changes its meaning or goes away, the number changes, and readers refuse the report. */
#define TEM_REPORT_FORMAT "tem 1"

/* Writes the report of a run as a JSON object: the mechanism and what it claims, the policies, the
 * counts, the cost, the hashes of the model and of the certificate. It has no text in it, but it
 * depends on the private text: it is for the owner of the text only.
 * `private` is true, and `spent_worst` a number, exactly where tem_job_why_not_private gives no
 * reason.
 *   job       the job that ran; its inputs, output and format do not matter
 *   counts    what the run did, as tem_privatize_files or tem_privatize_text has counted
 *   balance   what the ledger of the job says after the run; NULL: the report does not mention a
 *             ledger
 *   text      receives UTF-8, NUL-terminated; free with tem_text_free. Names that are not UTF-8,
 *             such as that of the ledger, have U+FFFD where they are not
 *   bytes     receives its length, without the NUL
 * The same in every locale. Fails with TEM_ERR_ARGUMENT (also: a balance without a ledger) or
 * TEM_ERR_MEMORY. Any thread. */
TEM_API tem_status tem_report_json(const tem_mechanism *mechanism, const tem_job *job,
                                   const tem_counts *counts, const tem_balance *balance,
                                   char **text, size_t *bytes, tem_error *error);

/* --------------------------------------------------------- certificates -- */

/* An exponent beyond epsilon/2, with the proof that on this vocabulary it keeps the promise
 * of epsilon. It holds for its own s, gamma and weights and for no others, not even a
 * smaller s. tem_account.h makes, finds and verifies certificates. */
typedef struct tem_certificate tem_certificate;

/* What a mechanism does to words under a prior, as tem_summary has it. All 0: not computed. */
typedef struct tem_effect {
    double self;     /* self_median */
    double support;  /* support_median */
    double distance; /* distance_mean */
    double bayes;
    uint64_t reserved[4]; /* 0 */
} tem_effect;

typedef struct tem_certificate_info {
    double epsilon;   /* what is promised */
    double beta;      /* what gamma was made from; 0 if gamma was given */
    uint64_t s_steps; /* in steps of 2^-20 */
    double s;
    tem_dist gamma_steps; /* in steps of 2^-16 */
    double gamma;
    double realised;          /* the proved bound: at most epsilon */
    tem_weights_kind weights; /* equal, balanced or tuned */
    char prior[64];    /* what `effect` was computed and tuned weights were chosen under, or "" */
    tem_effect effect; /* of the certified mechanism: what it says, proved by nobody */
    tem_effect plain;  /* of the paper's, s = epsilon/2, at the same epsilon */
    char space[65];    /* hash of words, vectors and metric that it is for, in hex */
    char hash[65];     /* of the certificate, in hex */
    uint64_t reserved[8]; /* 0 */
} tem_certificate_info;

/* Whether a certificate is for the words, vectors and metric of this model: 1 or 0. For a model
 * that is not trusted this is what its file says. */
TEM_API int tem_certificate_is_for(const tem_certificate *certificate, const tem_model *model);

TEM_API void tem_certificate_get_info(const tem_certificate *certificate,
                                      tem_certificate_info *info);

/* What the certificate said that the mechanism was made from. Returns 0, *info untouched, if it was
 * made from none. */
TEM_API int tem_mechanism_get_certificate(const tem_mechanism *mechanism,
                                          tem_certificate_info *info);
TEM_API void tem_certificate_free(tem_certificate *certificate);

/* The i-th certificate of the file, from 0; TEM_OK with *certificate NULL beyond the last. Its
 * hashes are checked: they show damage, and prove nothing about who made it. Damage of others shows
 * when they are loaded; to load each in turn costs as much as to read the file once. */
TEM_API tem_status tem_certificate_load(const char *path, uint32_t i, tem_certificate **certificate,
                                        tem_error *error);

/* ---------------------------------------------------------------- trust -- */

/* The user's list of trusted models and certificates. A hash finds damage and does not tell who
 * made a file: a made-up list, bound or s breaks the guarantee, and its hash fits. So the hashes of
 * models and certificates that this user has made or verified are lines of the file
 * $XDG_STATE_HOME/tem/trusted, else of ~/.local/state/tem/trusted. The file and its folder must be
 * the user's own, must be no symbolic links, and nobody else may be able to write them.
 * All of these calls fail with TEM_ERR_UNTRUSTED if that does not hold (the error names what is
 * wrong), or if the environment does not tell where the list is; with TEM_ERR_FILE, TEM_ERR_MEMORY;
 * and with TEM_ERR_ARGUMENT for an invalid hash. Any thread, any number of processes.
 * A certificate is for words, vectors and metric. It says nothing about lists and bounds: the model
 * must be trusted, too. */

/* Whether the list has this hash (tem_model_hash's, or tem_certificate_info's). */
TEM_API tem_status tem_trust_has(const char *hash, int *has, tem_error *error);

/* Whether the list could be changed: makes it, and its folders, for their owner alone. */
TEM_API tem_status tem_trust_ready(tem_error *error);

/* Adds a hash to the list, or removes it. The change is on the disk when this returns TEM_OK. Waits
 * while others change the list, and may then fail with TEM_ERR_CANCELLED. */
TEM_API tem_status tem_trust_add(const char *hash, const tem_run *run, tem_error *error);
TEM_API tem_status tem_trust_remove(const char *hash, const tem_run *run, tem_error *error);

/* Whether a certificate that was loaded from a file may be used with a model: it lies beside a
 * model that came with the program (tem_model_accept, tem_model_trust_own), or this user has made
 * or verified it.
 *   path      the file that it was loaded from; beside the model means the path of the model, as it
 *             was opened, with ".cert" added
 * Fails with TEM_ERR_CERTIFICATE if neither holds, or as tem_trust_has does. */
TEM_API tem_status tem_certificate_trust(const tem_certificate_info *certificate,
                                         const tem_model *model, const char *path,
                                         tem_error *error);

/* Called by tem_trust_verify for each thing that it has verified, from the thread that called it.
 *   certificate   which certificate; NULL: the model, or a file of certificates that cannot be
 *                 read, which failure->file names
 *   failure       why it does not hold; NULL: it holds */
typedef void tem_verified_fn(void *context, const tem_certificate_info *certificate,
                             const tem_error *failure);

/* A field of 0 or NULL means the default. */
typedef struct tem_verification {
    const char *certificates; /* the file of the model's certificates; there need not be one */
    tem_verified_fn *told;
    void *told_context;
    uint64_t reserved[4]; /* must be 0 */
} tem_verification;

/* Verifies a model, then its certificates, and changes the user's list accordingly:
 *  - a model that holds is added, and so is each certificate that holds, as soon as that is known;
 *  - if the model does not hold, the hash that its file claims, the hash that its content has, and
 *    all its certificates are removed;
 *  - a certificate that does not hold is removed. One for another model is a failure, and is left
 *    alone.
 * A call that was cancelled, or that could not read something, removes nothing. If only the list
 * could not be changed, this returns TEM_OK and `unnoted` tells why; the model is then trusted in
 * this process.
 *   how       NULL: all defaults
 *   unnoted   receives why the list could not be changed, or the status TEM_OK; may be NULL
 * Fails as tem_model_verify, tem_accountant_create, tem_certificate_load and
 * tem_certificate_verify do, with the first failure. Cost: that of these. */
TEM_API tem_status tem_trust_verify(tem_model *model, const tem_verification *how,
                                    const tem_run *run, tem_error *unnoted, tem_error *error);

/* --------------------------------------------------------------- tuning -- */

/* Distances are computed by one of several kernels, all equal bit for bit:
 * "scalar", "avx2", "avx512", "avx512vnni". The best that the machine has is
 * chosen by itself. */

/* The kernel in use. Static string. Any thread. */
TEM_API const char *tem_kernel_name(void);

/* The i-th kernel this build knows, from 0, best last; NULL beyond. *available,
 * unless NULL, receives whether this machine can run it. Any thread. */
TEM_API const char *tem_kernel_at(unsigned i, int *available);

/* Uses this kernel from now on; for tests and measurements. Fails with
 * TEM_ERR_ARGUMENT (no such kernel) or TEM_ERR_UNSUPPORTED. Call it before any
 * other thread uses the library. */
TEM_API tem_status tem_kernel_force(const char *name, tem_error *error);

#ifdef __cplusplus
}
#endif
#endif
