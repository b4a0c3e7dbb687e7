/* test_rng.c - random bits and uniform integers.
 *
 * The test compares the stream with one made here, block by block, from the description in rng.h.
 * It does not estimate that integers are uniform, but proves it. For rng_below256, a tape holds
 * every pattern of the bits that count, and each result must come out equally often. For rng_below,
 * the words that give a value are consecutive; each value must have 2^64 / bound of them, rounded
 * down, and the words between those of two values must give none. */
#include "below.h"
#include "core/hash.h"
#include "pseudo.h"
#include "rng/rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <sodium.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* ------------------------------------------------------------- helpers -- */

static jmp_buf tape_ended;

static void end_of_tape(void *context) {
    longjmp(*(jmp_buf *)context, 1);
}

static tem_rng on_tape(const uint64_t *words, uint64_t count) {
    tem_rng rng;
    rng_init_tape(&rng, words, count, end_of_tape, &tape_ended);
    return rng;
}

static void draw_words(tem_rng *rng, uint64_t *out, size_t count) {
    for (size_t i = 0; i < count; i++)
        out[i] = rng_word(rng);
}

/* -------------------------------------------------------------- stream -- */

enum { REFILLS = 4, STREAM_BLOCKS = (RNG_KEY_BYTES + 8 * RNG_BUFFER_WORDS + 63) / 64 };

/* The stream of a key: the bytes of ChaCha20's blocks 0, 1, ..., one call each. */
static void key_stream(const unsigned char *key, unsigned char *out) {
    static const unsigned char nonce[crypto_stream_chacha20_ietf_NONCEBYTES] = {0};
    static const unsigned char zeros[64] = {0};
    for (uint32_t block = 0; block < STREAM_BLOCKS; block++)
        crypto_stream_chacha20_ietf_xor_ic(out + (size_t)64 * block, zeros, 64, nonce, block, key);
}

/* Fast key erasure: the first 32 bytes are the next key, then come the random words. */
static void expected_words(uint64_t seed, uint64_t stream, uint64_t *out) {
    unsigned char key[RNG_KEY_BYTES] = {0}, bytes[64 * STREAM_BLOCKS];
    for (int i = 0; i < 8; i++) {
        key[i] = (unsigned char)(seed >> (8 * i));
        key[8 + i] = (unsigned char)(stream >> (8 * i));
    }
    for (int refill = 0; refill < REFILLS; refill++) {
        key_stream(key, bytes);
        memcpy(key, bytes, sizeof key);
        for (size_t i = 0; i < RNG_BUFFER_WORDS; i++) {
            uint64_t word = 0;
            for (int j = 7; j >= 0; j--)
                word = word << 8 | bytes[sizeof key + 8 * i + (size_t)j];
            *out++ = word;
        }
    }
}

static void test_seeded_stream(void **state) {
    (void)state;
    static const uint64_t seeds[][2] = {{0, 0}, {1, 0}, {0, 1}, {UINT64_MAX, 0x0123456789abcdef}};
    static uint64_t expected[REFILLS * RNG_BUFFER_WORDS];
    for (size_t i = 0; i < sizeof seeds / sizeof *seeds; i++) {
        expected_words(seeds[i][0], seeds[i][1], expected);
        tem_rng rng;
        rng_init_seeded(&rng, seeds[i][0], seeds[i][1]);
        for (size_t j = 0; j < REFILLS * RNG_BUFFER_WORDS; j++)
            assert_true(rng_word(&rng) == expected[j]);
    }
}

static void test_seeds_differ(void **state) {
    (void)state;
    enum { GENERATORS = 40, WORDS = 4 };
    uint64_t words[GENERATORS][WORDS];
    for (uint64_t i = 0; i < GENERATORS; i++) {
        tem_rng rng, again;
        uint64_t same[WORDS];
        rng_init_seeded(&rng, i / 8, i % 8);
        rng_init_seeded(&again, i / 8, i % 8);
        draw_words(&rng, words[i], WORDS);
        draw_words(&again, same, WORDS);
        assert_memory_equal(words[i], same, sizeof same);
        for (uint64_t j = 0; j < i; j++)
            assert_memory_not_equal(words[i], words[j], sizeof same);
    }
}

static void test_secure_differ(void **state) {
    (void)state;
    tem_rng a, b;
    rng_init_secure(&a);
    rng_init_secure(&b);
    uint64_t first[2 * RNG_BUFFER_WORDS], second[2 * RNG_BUFFER_WORDS];
    draw_words(&a, first, 2 * RNG_BUFFER_WORDS);
    draw_words(&b, second, 2 * RNG_BUFFER_WORDS);
    for (size_t i = 0; i < 2 * RNG_BUFFER_WORDS; i++)
        assert_true(first[i] != second[i]);
}

static bool all_zero(const void *memory, size_t bytes) {
    const unsigned char *p = memory;
    for (size_t i = 0; i < bytes; i++)
        if (p[i] != 0)
            return false;
    return true;
}

static void check_erased(tem_rng *rng) {
    unsigned char key[RNG_KEY_BYTES];
    for (unsigned round = 0; round < 2; round++) {
        memcpy(key, rng->stream.key, sizeof key);
        for (unsigned i = 0; i < RNG_BUFFER_WORDS; i++) {
            assert_true(rng_word(rng) != 0);
            assert_true(all_zero(rng->stream.buffer, (i + 1) * sizeof *rng->stream.buffer));
        }
        assert_memory_not_equal(rng->stream.key, key, sizeof key);
    }
    rng_word(rng);
    assert_false(all_zero(rng->stream.buffer, sizeof rng->stream.buffer));
    rng_wipe(rng);
    assert_true(all_zero(rng, sizeof *rng));
}

/* A word that is 0 by chance would fail this in one run of 2^53. */
static void test_used_words_are_erased(void **state) {
    (void)state;
    tem_rng rng;
    rng_init_seeded(&rng, 7, 0);
    check_erased(&rng);
    rng_init_secure(&rng);
    check_erased(&rng);
}

/* ---------------------------------------------------------------- fork -- */

enum { FORK_WORDS = 2 * RNG_BUFFER_WORDS };

/* Whether the kernel can clear a page in a child that was created without fork handlers. */
static bool kernel_clears(void) {
    const size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
    char *page = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(page != MAP_FAILED);
    *page = 1;
    assert_int_equal(madvise(page, bytes, MADV_WIPEONFORK), 0);
    const pid_t child = _Fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(*page);
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    munmap(page, bytes);
    return WEXITSTATUS(status) == 0;
}

/* The words that a child of this process draws from its copy; with `depth` 2, a child of the
 * child. */
static void words_of_child(tem_rng *rng, int depth, uint64_t *out) {
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    /* Every second child is created without the fork handlers. Under qemu none is, because qemu
     * does not clear the page; this shows that the handlers are enough. */
    static unsigned children;
    const pid_t child = children++ % 2 == 0 || !kernel_clears() ? fork() : _Fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (depth > 1)
            words_of_child(rng, depth - 1, out);
        else
            draw_words(rng, out, FORK_WORDS);
        const char *from = (const char *)out;
        for (size_t left = FORK_WORDS * sizeof *out; left > 0;) {
            const ssize_t written = write(ends[1], from, left);
            if (written <= 0)
                _exit(1);
            from += written;
            left -= (size_t)written;
        }
        _exit(0);
    }
    close(ends[1]);
    char *to = (char *)out;
    for (size_t left = FORK_WORDS * sizeof *out; left > 0;) {
        const ssize_t got = read(ends[0], to, left);
        assert_true(got > 0);
        to += got;
        left -= (size_t)got;
    }
    close(ends[0]);
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static int compare_words(const void *a, const void *b) {
    uint64_t x = 0, y = 0;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return x < y ? -1 : x > y;
}

/* No word in common, at any place: the probability of one among these is below 2^-42. */
static void check_disjoint(uint64_t *words, size_t count) {
    qsort(words, count, sizeof *words, compare_words);
    for (size_t i = 1; i < count; i++)
        assert_true(words[i - 1] != words[i]);
}

static void test_fork_secure(void **state) {
    (void)state;
    static const size_t used_before[] = {0, 1, 200, RNG_BUFFER_WORDS, RNG_BUFFER_WORDS + 5};
    for (size_t i = 0; i < sizeof used_before / sizeof *used_before; i++) {
        static uint64_t words[4 * FORK_WORDS];
        tem_rng rng;
        rng_init_secure(&rng);
        for (size_t j = 0; j < used_before[i]; j++)
            rng_word(&rng);
        words_of_child(&rng, 1, words);
        words_of_child(&rng, 1, words + FORK_WORDS);
        words_of_child(&rng, 2, words + (size_t)2 * FORK_WORDS);
        draw_words(&rng, words + (size_t)3 * FORK_WORDS, FORK_WORDS);
        check_disjoint(words, (size_t)4 * FORK_WORDS);
    }
}

static void test_fork_seeded(void **state) {
    (void)state;
    tem_rng rng;
    static uint64_t child[FORK_WORDS], parent[FORK_WORDS];
    rng_init_seeded(&rng, 5, 6);
    for (int i = 0; i < 100; i++)
        rng_word(&rng);
    words_of_child(&rng, 1, child);
    draw_words(&rng, parent, FORK_WORDS);
    assert_memory_equal(child, parent, sizeof parent);
}

/* -------------------------------------------------------------- uniform -- */

/* A function that draws integers below a bound of one word, so that tests can substitute wrong
 * ones. */
typedef uint64_t draw_below(tem_rng *rng, uint64_t bound);

static uint64_t draw_multiplied(tem_rng *rng, uint64_t bound) {
    return (uint64_t)((u256_wide)rng_word(rng) * bound >> 64);
}

/* A wrong one: skips all words that may need skipping, not only those that do. */
static uint64_t draw_multiplied_less(tem_rng *rng, uint64_t bound) {
    for (;;) {
        const u256_wide product = (u256_wide)rng_word(rng) * bound;
        if ((uint64_t)product >= bound)
            return (uint64_t)(product >> 64);
    }
}

static uint64_t draw_modulo(tem_rng *rng, uint64_t bound) {
    return rng_word(rng) % bound;
}

static uint64_t draw_floating(tem_rng *rng, uint64_t bound) {
    return (uint64_t)((rng_unit(rng) - 0x1p-53) * (double)bound);
}

/* Whether a word gives `value`, and whether it is skipped: then the next word is used, which stands
 * for 0 with a word to spare. */
static bool gives(draw_below *draw, uint64_t word, uint64_t value, uint64_t bound) {
    tem_rng rng = on_tape(&word, 1);
    return setjmp(tape_ended) == 0 && draw(&rng, bound) == value;
}

static bool is_passed_over(draw_below *draw, uint64_t word, uint64_t bound) {
    const uint64_t tape[] = {word, below_words_of(0, bound).last};
    tem_rng rng = on_tape(tape, 2);
    return draw(&rng, bound) == 0 && rng.tape_used == 2;
}

/* Whether `value` has its share of words. The words in between have larger fractions than the first
 * two, and are accepted without a check. */
static bool has_its_words(draw_below *draw, uint64_t value, uint64_t bound) {
    const below_words w = below_words_of(value, bound);
    if ((u256_wide)w.last - w.first + 1 != ((u256_wide)1 << 64) / bound)
        return false;
    const uint64_t inner =
        w.first + random64() % (w.last - w.first + (w.last - w.first < UINT64_MAX));
    const uint64_t second = w.first + (w.first < w.last);
    if (!gives(draw, w.first, value, bound) || !gives(draw, w.last, value, bound) ||
        !gives(draw, inner, value, bound) || !gives(draw, second, value, bound))
        return false;
    const uint64_t end = value == 0 ? 0 : below_words_of(value - 1, bound).last + 1;
    for (uint64_t word = end; word < w.first; word++)
        if (!is_passed_over(draw, word, bound))
            return false;
    return w.first - end <= 1 && (value < bound - 1 || w.last == UINT64_MAX);
}

enum { BOUND_MAX = 300, BORDER_VALUES = 40 };

static bool all_have_their_words(draw_below *draw) {
    for (uint64_t bound = 1; bound <= BOUND_MAX; bound++)
        for (uint64_t value = 0; value < bound; value++)
            if (!has_its_words(draw, value, bound))
                return false;
    return true;
}

static void test_uniform(void **state) {
    (void)state;
    assert_true(all_have_their_words(rng_below));
}

static void check_border(uint64_t bound) {
    for (uint64_t i = 0; i < BORDER_VALUES; i++) {
        const uint64_t values[] = {i / 4, bound - 1 - i / 4, bound / 2 + i / 4, random64() % bound};
        if (values[i % 4] < bound)
            assert_true(has_its_words(rng_below, values[i % 4], bound));
    }
}

static void test_borders(void **state) {
    (void)state;
    for (unsigned bit = 0; bit < 64; bit++) {
        const uint64_t power = (uint64_t)1 << bit;
        check_border(power);
        check_border(power + 1);
        check_border(power - 1 == 0 ? 1 : power - 1);
        check_border(power | power >> 1);
        check_border(power | random64() >> (63 - bit) >> (bit < 63));
    }
    check_border(UINT64_MAX);
    check_border(UINT64_MAX - 1);
}

/* Several words are skipped in a row. */
static void test_passed_over_again(void **state) {
    (void)state;
    const uint64_t bound = ((uint64_t)1 << 63) + 1; /* nearly every second word is skipped */
    const uint64_t tape[] = {0, 2, 4, 6, 7, 0};
    for (size_t i = 0; i < 4; i++)
        assert_true(is_passed_over(rng_below, tape[i], bound));
    tem_rng rng = on_tape(tape, 6);
    assert_true(rng_below(&rng, bound) == 3);
    assert_true(rng.tape_used == 5);
}

/* -------------------------------------------------------- uniform, wide -- */

static unsigned bits_of(uint64_t v) {
    unsigned bits = 0;
    for (; v != 0; v >>= 1)
        bits++;
    return bits;
}

static uint64_t draw_wide(tem_rng *rng, uint64_t bound) {
    const u256 wide = {{bound, 0, 0, 0}};
    const u256 v = rng_below256(rng, &wide);
    assert_true((v.limb[1] | v.limb[2] | v.limb[3]) == 0);
    return v.limb[0];
}

static uint64_t draw_too_few_bits(tem_rng *rng, uint64_t bound) {
    const uint64_t mask = bound == 1 ? 0 : UINT64_MAX >> (65 - bits_of(bound));
    return rng_word(rng) & mask;
}

enum { PATTERN_BOUND_MAX = 70, PATTERN_BITS = 7 };

/* Runs over a tape with every pattern of the low 7 bits and counts the results. Whichever of these
 * bits count, each of their patterns occurs equally often. The upper bits differ in every word:
 * they must not matter. */
static bool is_uniform(draw_below *draw, uint64_t bound) {
    uint64_t tape[1 << PATTERN_BITS];
    volatile uint64_t seen[PATTERN_BOUND_MAX] = {0}; /* outlives the jump */
    for (uint64_t i = 0; i < 1 << PATTERN_BITS; i++)
        tape[i] = i | (i * 0x9e3779b97f4a7c15) << PATTERN_BITS;
    tem_rng rng = on_tape(tape, 1 << PATTERN_BITS);
    if (setjmp(tape_ended) == 0)
        for (;;) {
            const uint64_t v = draw(&rng, bound);
            if (v >= bound)
                return false;
            seen[v] = seen[v] + 1;
        }
    for (uint64_t v = 1; v < bound; v++)
        if (seen[v] != seen[0])
            return false;
    return seen[0] > 0;
}

static bool is_uniform_throughout(draw_below *draw) {
    for (uint64_t bound = 1; bound <= PATTERN_BOUND_MAX; bound++)
        if (!is_uniform(draw, bound))
            return false;
    return true;
}

static void test_uniform_wide(void **state) {
    (void)state;
    assert_true(is_uniform_throughout(draw_wide));
}

static void test_planted_faults_show(void **state) {
    (void)state;
    assert_false(all_have_their_words(draw_multiplied));
    assert_false(all_have_their_words(draw_multiplied_less));
    assert_false(all_have_their_words(draw_modulo));
    assert_false(all_have_their_words(draw_floating));
    assert_false(is_uniform_throughout(draw_modulo));
    assert_false(is_uniform_throughout(draw_too_few_bits));
    assert_false(is_uniform_throughout(draw_floating));
}

static int top_limb(const u256 *v) {
    int top = 3;
    while (top > 0 && v->limb[top] == 0)
        top--;
    return top;
}

static bool equal256(const u256 *a, const u256 *b) {
    return !u256_less(a, b) && !u256_less(b, a);
}

/* Puts v on the tape in the order that rng_below256 reads, most significant limb first, with `junk`
 * above the bits that count. */
static size_t put256(uint64_t *tape, const u256 *v, const u256 *bound, uint64_t junk) {
    const int top = top_limb(bound);
    const unsigned bits = bits_of(bound->limb[top]);
    size_t used = 0;
    for (int i = top; i >= 0; i--)
        tape[used++] = v->limb[i];
    if (bits < 64)
        tape[0] |= junk << bits;
    return used;
}

/* Feeds v and then 0: v must come out if it is below the bound, otherwise it must be skipped. */
static void check_wide(const u256 *v, const u256 *bound, uint64_t junk) {
    static const u256 zero = {{0, 0, 0, 0}};
    uint64_t tape[8];
    const size_t first = put256(tape, v, bound, junk);
    const size_t both = first + put256(tape + first, &zero, bound, junk);
    tem_rng rng = on_tape(tape, both);
    const u256 got = rng_below256(&rng, bound);
    const bool taken = u256_less(v, bound);
    assert_true(equal256(&got, taken ? v : &zero));
    assert_true(rng.tape_used == (taken ? first : both));
}

/* v with each limb replaced by 0, 1, all ones, and one off the bound's limb. */
static void check_wide_around(const u256 *bound) {
    const int top = top_limb(bound);
    const uint64_t mask = UINT64_MAX >> (64 - bits_of(bound->limb[top]));
    uint64_t choices[4][6];
    for (int i = 0; i < 4; i++) {
        const uint64_t b = bound->limb[i], all[] = {b, b - 1, b + 1, 0, 1, UINT64_MAX};
        for (int c = 0; c < 6; c++)
            choices[i][c] = i > top ? 0 : i == top ? all[c] & mask : all[c];
    }
    const int combinations = top == 0 ? 6 : top == 1 ? 36 : top == 2 ? 216 : 1296;
    for (int c = 0; c < combinations; c++) {
        const u256 v = {{choices[0][c % 6], choices[1][c / 6 % 6], choices[2][c / 36 % 6],
                         choices[3][c / 216 % 6]}};
        check_wide(&v, bound, 0);
        check_wide(&v, bound, UINT64_MAX);
    }
}

static const u256 wide_bounds[] = {
    {{1, 0, 0, 0}},
    {{UINT64_MAX, 0, 0, 0}},
    {{0, 1, 0, 0}}, /* 2^64 */
    {{1, 1, 0, 0}},
    {{UINT64_MAX, 1, 0, 0}},
    {{UINT64_MAX, UINT64_MAX, 0, 0}},
    {{0, 0, 1, 0}}, /* 2^128 */
    {{1, 0, 1, 0}},
    {{0, 0, (uint64_t)1 << 63, 0}},
    {{UINT64_MAX, UINT64_MAX, UINT64_MAX, 0}}, /* 2^192 - 1 */
    {{0, 0, 0, 1}},
    {{1, 0, 0, 1}},
    {{UINT64_MAX, UINT64_MAX, UINT64_MAX, 1}},
    {{5, 6, 7, 0x7fffffffffffffff}},
    {{0, 0, 0, (uint64_t)1 << 63}}, /* 2^255 */
    {{5, 0, UINT64_MAX, 0xf000000000000001}},
    {{UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX}}, /* 2^256 - 1 */
};

static void test_wide_borders(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof wide_bounds / sizeof *wide_bounds; i++)
        check_wide_around(&wide_bounds[i]);
}

/* Bounds of two limbs: all values of a small upper limb, each as often as its share of the lower
 * limb allows. */
static void test_wide_upper_limb(void **state) {
    (void)state;
    for (uint64_t upper = 1; upper <= 16; upper++)
        for (uint64_t v = 0; v < (uint64_t)1 << bits_of(upper); v++) {
            const u256 bound = {{1000, upper, 0, 0}};
            for (uint64_t lower = 998; lower < 1003; lower++)
                check_wide(&(u256){{lower, v, 0, 0}}, &bound, 0x5555);
        }
}

static void test_never_at_the_bound(void **state) {
    (void)state;
    tem_rng rng;
    rng_init_seeded(&rng, 11, 0);
    for (int i = 0; i < 100000; i++) {
        const uint64_t bound = (rng_word(&rng) >> (rng_word(&rng) % 64)) | 1;
        assert_true(rng_below(&rng, bound) < bound);
        u256 wide = {{rng_word(&rng), rng_word(&rng), rng_word(&rng), rng_word(&rng)}};
        for (uint64_t cut = rng_word(&rng) % 4, j = 0; j < cut; j++)
            wide.limb[3 - j] = 0;
        wide.limb[0] |= 1;
        const u256 v = rng_below256(&rng, &wide);
        assert_true(u256_less(&v, &wide));
    }
}

/* ----------------------------------------------------------- unit, tape -- */

static void test_unit(void **state) {
    (void)state;
    const uint64_t tape[] = {0,
                             (1 << 11) - 1,
                             1 << 11,
                             UINT64_MAX,
                             (uint64_t)1 << 63,
                             UINT64_MAX >> 1,
                             ~(uint64_t)0 << 11};
    tem_rng rng = on_tape(tape, 7);
    assert_true(rng_unit(&rng) == 0x1p-53); /* never 0, because the caller takes its logarithm */
    assert_true(rng_unit(&rng) == 0x1p-53);
    assert_true(rng_unit(&rng) == 0x1p-52);
    assert_true(rng_unit(&rng) == 1);
    assert_true(rng_unit(&rng) == 0.5 + 0x1p-53);
    assert_true(rng_unit(&rng) == 0.5);
    assert_true(rng_unit(&rng) == 1);
    assert_true(rng.tape_used == 7);
}

static void test_end_of_tape(void **state) {
    (void)state;
    const uint64_t tape[] = {3, 1, 4};
    tem_rng rng = on_tape(tape, 3);
    volatile int drawn = 0;
    if (setjmp(tape_ended) == 0)
        for (;;) {
            assert_true(rng_word(&rng) == tape[drawn]);
            drawn = drawn + 1;
        }
    assert_int_equal(drawn, 3);
    assert_true(rng.tape_used == 3);
}

/* Replaces the system's function, so that it can fail. */
static bool kernel_fails;

ssize_t getrandom(void *bytes, size_t count, unsigned flags) {
    if (!kernel_fails)
        return syscall(SYS_getrandom, bytes, count, flags);
    errno = ENOSYS;
    return -1;
}

/* The message and exit of a program that needs random bytes when there are none. */
static void draw_without_kernel(int says) {
    tem_rng rng;
    unsigned char hash[CORE_HASH_BYTES];
    dup2(says, STDERR_FILENO);
    signal(SIGABRT, SIG_DFL); /* cmocka catches this signal */
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    kernel_fails = true;
    core_hash256("x", 1, hash); /* needs no random bytes, and must not end the program */
    dprintf(STDERR_FILENO, "hashed\n");
    rng_init_secure(&rng);
    _exit(0);
}

static void check_without_kernel(void) {
    int ends[2];
    char said[512];
    size_t bytes = 0;
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        draw_without_kernel(ends[1]);
    close(ends[1]);
    for (ssize_t got = 1; got > 0 && bytes < sizeof said; bytes += (size_t)got)
        got = read(ends[0], said + bytes, sizeof said - bytes);
    close(ends[0]);
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    static const char wanted[] =
        "hashed\ntem: the kernel gives no random bytes (getrandom failed); "
        "the program ends here\n";
    assert_int_equal(bytes, sizeof wanted - 1);
    assert_memory_equal(said, wanted, bytes);
}

/* Must be the first test, so that the first program has to set up everything, and the second
 * nothing. */
static void test_kernel_without_random_bytes(void **state) {
    (void)state;
    check_without_kernel();
    tem_rng rng;
    rng_init_secure(&rng);
    check_without_kernel();
}

/* If the handler returns, the program ends: no word is invented. */
static void returning_handler(void *context) {
    (void)context;
}

static void test_returning_handler_aborts(void **state) {
    (void)state;
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        tem_rng rng;
        rng_init_tape(&rng, NULL, 0, returning_handler, NULL);
        signal(SIGABRT, SIG_DFL); /* cmocka catches this signal */
        setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        rng_word(&rng);
        _exit(0);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kernel_without_random_bytes),
        cmocka_unit_test(test_seeded_stream),
        cmocka_unit_test(test_seeds_differ),
        cmocka_unit_test(test_secure_differ),
        cmocka_unit_test(test_used_words_are_erased),
        cmocka_unit_test(test_fork_secure),
        cmocka_unit_test(test_fork_seeded),
        cmocka_unit_test(test_uniform),
        cmocka_unit_test(test_borders),
        cmocka_unit_test(test_passed_over_again),
        cmocka_unit_test(test_uniform_wide),
        cmocka_unit_test(test_planted_faults_show),
        cmocka_unit_test(test_wide_borders),
        cmocka_unit_test(test_wide_upper_limb),
        cmocka_unit_test(test_never_at_the_bound),
        cmocka_unit_test(test_unit),
        cmocka_unit_test(test_end_of_tape),
        cmocka_unit_test(test_returning_handler_aborts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
